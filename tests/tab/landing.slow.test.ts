// What a link to a site of the lab shows: its first page, the pages to read, the lab on a phone, in Chromium.
import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join, posix } from "node:path";
import { gzipSync } from "node:zlib";
import { packagePath } from "#platform/modules";
import test, { after, before } from "node:test";
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { writeSite } from "../../apps/site/write/write-site.js";
import { launchChromium } from "./browsers/chromium.js";
import { ready, shown } from "./lab-page.js";
import { StaticHost } from "./static-host.js";

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const folder = mkdtempSync(join(tmpdir(), "landing-"));
let browser: Browser;
let host: StaticHost;
before(async () => {
  await writeSite({ out: folder });
  host = await StaticHost.start(folder, { compress: true });
  browser = await launchChromium();
});
after(async () => {
  await browser.close();
  host.stop();
  rmSync(folder, { recursive: true });
});

const desktop = { viewport: { width: 1400, height: 900 } };
const cell = { viewport: { width: 660, height: 900 } };
const phone = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true };
const narrowest = { ...phone, viewport: { width: 320, height: 640 } };

interface Visit extends BrowserContextOptions {
  path?: string;
}

/** Opens a page of the site for a while; nothing in it may fail unseen, and nothing may ask another host. */
async function onPage(work: (page: Page) => Promise<void>, visit: Visit = {}): Promise<void> {
  const { path = "", ...options } = visit;
  const context = await browser.newContext({ ...desktop, ...options });
  try {
    const page = await context.newPage();
    page.setDefaultTimeout(60_000);
    const faults: string[] = [];
    page.on("pageerror", ({ message }) => faults.push(message));
    page.on("request", (request) => {
      const url = request.url();
      if (!url.startsWith(host.url) && !/^(data|blob):/.test(url)) faults.push(`asks ${url}`);
    });
    page.on("response", (answer) => {
      if (answer.status() >= 400) faults.push(`${answer.status()} ${answer.url()}`);
    });
    await page.goto(`${host.url}${path}`);
    if (path === "") await page.waitForSelector("body[data-ready]");
    await work(page);
    assert.deepEqual(faults, []);
  } finally {
    await context.close();
  }
}

async function kept(page: Page, name: string): Promise<void> {
  const pictures = process.env["ARPO_LAB_SCREENSHOTS"];
  if (pictures !== undefined) await page.screenshot({ path: join(pictures, `${name}.png`) });
}

async function violations(page: Page): Promise<string[]> {
  await page.evaluate(axe);
  return await page.evaluate(
    `axe.run(document, { resultTypes: ["violations"] }).then(({ violations }) => violations.map(({ id, help, nodes }) => id + ": " + help + ": " + nodes.map(({ html }) => html.slice(0, 200)).join(" | ")))`,
  );
}

const wider = (page: Page): Promise<number> =>
  page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
const said = async (page: Page): Promise<string> => (await page.textContent("#loop .al-say")) ?? "";

test("the landing page is under 300 kB, asks no other host, and says when it can be used", async (t) => {
  host.visits.splice(0);
  await onPage(async (page) => {
    await page.evaluate(() => scrollTo(0, document.body.scrollHeight));
    await page.waitForLoadState("networkidle");
    const visits = host.visits.filter(({ url }) => !url.endsWith("service-worker.js"));
    const bytes = visits.reduce((sum, visit) => sum + visit.bytes, 0);
    const interactive = await page.evaluate(
      () => performance.getEntriesByName("interactive")[0]!.startTime,
    );
    const files = visits.map(({ url }) =>
      join(folder, url.replace("/some-repo/", "") || "index.html"),
    );
    const plain = files.reduce((sum, file) => sum + readFileSync(file).length, 0);
    t.diagnostic(
      `${visits.length} requests, ${bytes} bytes (${plain} before compression), interactive after ${Math.round(interactive)} ms`,
    );
    assert.ok(plain < 300_000, `${plain} bytes before compression`);
    const loop = gzipSync(readFileSync(packagePath("data/loop.json"))).length;
    t.diagnostic(`the loop's data: ${loop} bytes as gzip`);
    assert.ok(loop < 60_000, `${loop} bytes`);
  });
});

test("the loop moves within 1.5 s of the page's load", async () => {
  await onPage(async (page) => {
    // Each look at it is a frame, of which the first is the one it began with.
    await page.waitForFunction(
      () => {
        const { dataset } = document.body;
        const now = document.querySelector<HTMLCanvasElement>("#loop canvas")!.toDataURL();
        return now !== (dataset["first"] ??= now);
      },
      undefined,
      { timeout: 1500 },
    );
  });
});

for (const [name, size] of Object.entries({ desktop, cell, phone, narrowest })) {
  for (const colorScheme of ["light", "dark"] as const) {
    test(`the landing page fits and passes axe: ${name}, ${colorScheme}`, async () => {
      await onPage(
        async (page) => {
          assert.equal(await wider(page), 0);
          const fold = page.viewportSize()!.height;
          const tree = (await page.locator("#loop .al-tree").boundingBox())!;
          if (name === "desktop" || name === "phone")
            assert.ok(tree.y + tree.height <= fold, `the tree ends at ${tree.y + tree.height}`);
          for (let act = 1; act <= 4; act++) {
            await page.click(`#loop .al-acts button:nth-child(${act})`);
            await page.waitForSelector(
              `#loop .al-acts button:nth-child(${act})[aria-current=step]`,
            );
            assert.deepEqual(await violations(page), [], `act ${act}`);
            await kept(page, `landing-${name}-${colorScheme}-${act}`);
          }
          await page.click("[data-play]");
          await page.waitForSelector("#tree .ax-scroll canvas");
          assert.deepEqual(await violations(page), [], "playing");
          assert.equal(await wider(page), 0);
          await kept(page, `landing-${name}-${colorScheme}-play`);
        },
        { ...size, colorScheme },
      );
    });
  }
}

test("the acts say where it hesitated, why it branched, which word was wrong and what training changed", async () => {
  await onPage(async (page) => {
    const act = async (at: number): Promise<string> => {
      await page.click(`#loop .al-acts button:nth-child(${at})`);
      await page.waitForSelector(`#loop .al-acts button:nth-child(${at})[aria-current=step]`);
      return said(page);
    };
    assert.match((await page.textContent("#loop .al-about")) ?? "", /The right answer is 1665/);
    assert.match(await act(1), /^Tall bars are hesitation\..*“1729”/);
    assert.match(await act(2), /tries again\. ◆ .* a coin gives, what entropy adds/);
    assert.match(await act(3), /^Every wrong answer left a right path at one word\./);
    assert.match(await act(4), /^Now train\./);
    await page.fill("#loop .al-curve input", "24");
    await page.waitForFunction(() =>
      /^After 24 updates: .* fresh tries are right/.test(
        document.querySelector("#loop .al-say")!.textContent!,
      ),
    );
  });
});

test("the landing page is used by keyboard alone", async () => {
  await onPage(async (page) => {
    const focused = (): Promise<string> =>
      page.evaluate(() => document.activeElement!.outerHTML.slice(0, 120));
    const seen: string[] = [];
    while (!seen.at(-1)?.includes("data-play") && seen.length < 40) {
      await page.keyboard.press("Tab");
      seen.push(await focused());
    }
    for (const wanted of ["brand", "Hesitate", "<canvas", "Updates", "lab.html"])
      assert.ok(
        seen.some((each) => each.includes(wanted)),
        wanted,
      );
    await page.keyboard.press("Enter");
    await page.waitForSelector("#tree .ax-scroll canvas");
    assert.match(await focused(), /ax-scroll/);
    await page.keyboard.press("b");
    await page.keyboard.press("ArrowRight");
    await page.locator("#tree [role=tab]").first().waitFor();
    await page.keyboard.press("Tab"); // the tree lets go of it
    assert.doesNotMatch(await focused(), /class="ax-scroll"/);
  });
});

test("old links of the lab lead to its page", async () => {
  await onPage(
    async (page) => {
      await page.waitForURL(/lab\/tree\/notebooks\/01-tokens-and-entropy\.ipynb/);
    },
    { path: "?open=lab%2Ftree%2Fnotebooks%2F01-tokens-and-entropy.ipynb" },
  );
});

/** Links of a sentence into the picture nearby. */
const pointing = /^#(explorer|loop)&/;

test("every link of the site leads to something", () => {
  const files = new Set(
    (readdirSync(folder, { recursive: true }) as string[]).map((name) =>
      name.replaceAll("\\", "/"),
    ),
  );
  const pages = [...files].filter((name) => name.endsWith(".html"));
  const wrong: string[] = [];
  let count = 0;
  for (const name of pages) {
    const html = readFileSync(join(folder, name), "utf8").replace(
      /<script[^>]*>[^]*?<\/script>/g,
      "",
    );
    for (const [, found] of html.matchAll(
      /<(?:a|link|img|source|script)\b[^>]*?\s(?:href|src|srcset)="([^"]*)"/g,
    )) {
      const [path = "", anchor] = found!.replaceAll("&amp;", "&").split("?")[0]!.split("#");
      if (/^([a-z][\w+.-]*:|\/\/)/i.test(found!)) continue;
      // Into a picture of the page, which the test below presses.
      if (name.startsWith("read/") && pointing.test(found!.replaceAll("&amp;", "&"))) continue;
      count++;
      const to = path === "" ? name : posix.join(posix.dirname(name), decodeURI(path));
      const file = to === "." || to.endsWith("/") ? posix.join(to, "index.html") : to;
      if (!files.has(file)) wrong.push(`${name}: ${found}`);
      else if (anchor && file.endsWith(".html")) {
        const target = readFileSync(join(folder, file), "utf8");
        if (!target.includes(`id="${decodeURIComponent(anchor)}"`)) wrong.push(`${name}: ${found}`);
      }
    }
  }
  assert.deepEqual(wrong, []);
  assert.ok(count > 100, `${count} links`);
});

test("a lesson can be read on a phone, with its tree alive and links to the others", async () => {
  for (const colorScheme of ["light", "dark"] as const) {
    await onPage(
      async (page) => {
        await page.waitForSelector(".arpo-explorer canvas");
        assert.equal(await wider(page), 0);
        assert.deepEqual(await violations(page), []);
        await page.locator(".arpo-explorer").first().scrollIntoViewIfNeeded();
        await kept(page, `reading-phone-${colorScheme}`);
        await page.getByRole("button", { name: "What if?" }).first().click();
        await page.waitForSelector(".arpo-explorer [data-change=probability]");
        await page.locator("a", { hasText: "lesson 01" }).last().click();
        await page.waitForURL(/read\/01-tokens-and-entropy\.html$/);
        const live = ["02-", "03-", "04-", "08-", "09-", "12-"];
        for (const name of readdirSync(join(folder, "read"))) {
          if (!name.endsWith(".html")) continue;
          await page.goto(`${host.url}read/${name}`);
          if (live.some((start) => name.startsWith(start)))
            await page.waitForSelector(".arpo-explorer canvas");
          assert.equal(await wider(page), 0, name);
          for (const link of await page.locator('a[href^="#explorer&"], a[href^="#loop&"]').all()) {
            const [, kind] = pointing.exec((await link.getAttribute("href"))!)!;
            await page.waitForSelector(
              `.arpo-view.arpo-${kind} canvas, .arpo-view.arpo-${kind} svg`,
            );
            await link.click();
            assert.equal(new URL(page.url()).hash, "", `${name}: a view takes the link`);
          }
        }
        await page.goto(`${host.url}read/index.html`);
        await page.locator("a", { hasText: "00 A tour" }).click();
        await page.waitForURL(/read\/00-tour\.html$/);
      },
      { ...phone, colorScheme, path: "read/00-tour.html" },
    );
  }
});

test("under 700 pixels the lab opens on the lesson alone, with its saved pictures", async () => {
  for (const [name, size] of Object.entries({ phone, cell })) {
    await onPage(
      async (page) => {
        await ready(page);
        await shown(page, "founding year of Lerum");
        // Two trees were saved as pictures; a notebook that is not trusted shows their text.
        await page.waitForSelector(".jp-RenderedSVG img");
        const cut = await page.evaluate(
          () =>
            [...document.querySelectorAll(".jp-RenderedSVG")].filter(
              (output) => output.scrollWidth > output.clientWidth + 1,
            ).length,
        );
        assert.equal(cut, 0, "a saved picture is as wide as its output");
        await page.waitForFunction(() =>
          ["#jp-left-stack", "#jp-right-stack"].every(
            (side) => document.querySelector(side)?.getClientRects().length === 0,
          ),
        );
        await kept(page, `lab-${name}`);
      },
      { ...size, path: "lab.html" },
    );
  }
});
