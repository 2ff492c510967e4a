// The page that is only the explorer, in Chromium, from a plain host below a path.
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test, { after, before } from "node:test";
import { fileURLToPath } from "node:url";
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { launchChromium } from "./browsers/chromium.js";
import { StaticHost } from "./static-host.js";

const root = fileURLToPath(new URL("../../../", import.meta.url));
const { writeExplorePage } = (await import(
  new URL("../../../tools/tab/explore-page.mjs", import.meta.url).href
)) as { writeExplorePage: (out: string) => Promise<Record<string, number>> };
const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const fixture = (name: string) => join(root, "tests/fixtures/rollouts", name);

const out = mkdtempSync(join(tmpdir(), "explore-page-"));
let browser: Browser;
let host: StaticHost;
before(async () => {
  await writeExplorePage(out);
  writeFileSync(join(out, "mine.jsonl"), readFileSync(fixture("verl/0.9.1/3.jsonl")));
  host = await StaticHost.start(out);
  browser = await launchChromium();
});
after(async () => {
  await browser.close();
  host.stop();
  rmSync(out, { recursive: true });
});

const phone = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true };

/** Opens the page for a while; nothing in it may fail unseen. */
async function onPage(
  work: (page: Page) => Promise<void>,
  { search = "", ...options }: BrowserContextOptions & { search?: string } = {},
): Promise<void> {
  const context = await browser.newContext(options);
  try {
    const page = await context.newPage();
    page.setDefaultTimeout(60_000);
    const faults: string[] = [];
    page.on("pageerror", ({ message }) => faults.push(message));
    await page.goto(`${host.url}explore.html${search}`);
    await page.waitForSelector("body[data-ready]");
    await work(page);
    assert.deepEqual(faults, []);
  } finally {
    await context.close();
  }
}

const give = (page: Page, ...paths: string[]) => page.setInputFiles("#choose", paths);
const treeTitle = "#views details[data-prompt][open] .arpo-explorer .arpo-title";

async function kept(page: Page, name: string): Promise<void> {
  const folder = process.env["ARPO_LAB_SCREENSHOTS"];
  if (folder === undefined) return;
  await page.screenshot({ path: join(folder, `${name}.png`), fullPage: true });
}

async function violations(page: Page): Promise<string[]> {
  await page.evaluate(axe);
  return await page.evaluate(
    `axe.run(document, { resultTypes: ["violations"] }).then(({ violations }) => violations.map(({ id, help, nodes }) => id + ": " + help + ": " + nodes.map(({ html }) => html.slice(0, 200)).join(" | ")))`,
  );
}

for (const [name, files, says] of [
  ["verl", ["verl/0.9.1/3.jsonl"], /^verl: 5 trajectories of 2 prompts in 1 file/],
  ["verifiers", ["verifiers-traces/traces.jsonl"], /^verifiers-traces: 3 trajectories of 1 prompt/],
  [
    "TRL",
    ["trl/completions/completions_00005.parquet", "trl/completions/completions_00010.parquet"],
    /^trl: 8 trajectories of 2 prompts in 2 files/,
  ],
  ["inspect", ["inspect/sum.eval"], /^inspect: 2 trajectories of 1 prompt in 1 file/],
] as const) {
  test(`rollout files of ${name} become trees in the explorer`, async () => {
    await onPage(async (page) => {
      await give(page, ...files.map(fixture));
      assert.match(
        (await page.textContent("#views .arpo-imported > [data-picture] b")) ?? "",
        says,
      );
      assert.match((await page.textContent(treeTitle)) ?? "", /\d+ trajector(y|ies) · \d+ segment/);
      assert.ok(await page.isVisible("#views canvas"));
    });
  });
}

test("the lab's own trees have their tokens, the default reward's scores, and the explainer", async () => {
  await onPage(async (page) => {
    await page.click("text=ARPO's trees, of this lab");
    await page.waitForSelector(treeTitle);
    assert.match(
      (await page.textContent("#views .arpo-explorer")) ?? "",
      /What is the population of Tola minus 55/,
    );
    const colours = await page.$$eval("#views .arpo-explorer [data-view=quantity] option", (all) =>
      all.map((one) => one.getAttribute("value")),
    );
    assert.ok(colours.includes("entropy") && colours.includes("reward"), colours.join());
    await page.waitForSelector("#views > p:has-text('The file carries no scores')");
    await kept(page, "explore-desktop");
    await page.click("text=What an objective makes of its tokens");
    await page.waitForSelector("#views .arpo-explain [role=tab]");
    await page.click("#views .arpo-explain [data-algorithm=aepo]");
    const verdict = await page.textContent("#views .arpo-explain .arpo-verdict");
    assert.match(verdict ?? "", /token|gradient|advantage/i);
    assert.deepEqual(await violations(page), []);
    await kept(page, "explore-explainer");
  });
});

test("without log-probabilities the explainer says what is missing", async () => {
  await onPage(async (page) => {
    await page.click("#examples >> text=verl");
    await page.waitForSelector(treeTitle);
    await page.click("details[open] >> text=What an objective makes of its tokens");
    await page.waitForSelector("text=the file must carry the log-probability of every token");
  });
});

test("wrong files are refused with the rule and the line, and the page goes on", async () => {
  const wrong = (name: string, text: string) => ({
    name,
    mimeType: "text/plain",
    buffer: Buffer.from(text),
  });
  await onPage(async (page) => {
    const error = page.locator("#error:not(:empty)");
    await page.setInputFiles("#choose", wrong("strange.jsonl", '{"a":1}\n{"b":2}\n'));
    assert.match(
      (await error.textContent()) ?? "",
      /^Cannot import rollouts from strange\.jsonl: it must be one of .*verl.*, got records with the fields a$/,
    );
    await page.setInputFiles("#choose", wrong("broken.jsonl", "{}\n{not json\n"));
    await page.waitForSelector("#error:has-text('broken.jsonl')");
    await page.setInputFiles("#choose", wrong("table.parquet", "no parquet"));
    await page.waitForSelector("#error:has-text('it must be a readable .parquet file')");
    await page.setInputFiles("#choose", wrong("tokenizer.json", "{}"));
    await page.waitForSelector("#error:has-text('got a tokenizer alone')");
    await page.setInputFiles("#choose", wrong("empty.jsonl", ""));
    await page.waitForSelector("#error:has-text('got no record')");
    assert.ok(await page.isHidden("#shown"));
    const line = readFileSync(fixture("verl/0.9.1/3.jsonl"), "utf8").split("\n")[0]!;
    await page.setInputFiles("#choose", wrong("half.jsonl", `${line}\n{"input": \n${line}\n`));
    await page.waitForSelector("text=Broken: half.jsonl, line 2: a line must be JSON");
    assert.equal(await page.textContent("#error"), "");
  });
});

test("text is pasted, files are dropped anywhere, and an address of the own host is opened", async () => {
  const text = readFileSync(fixture("messages/chats.jsonl"), "utf8");
  await onPage(async (page) => {
    await page.click("text=Paste text instead");
    await page.fill("#pasted", text);
    await page.click("text=Read it");
    await page.waitForSelector("#views :text('messages: 2 trajectories of 1 prompt')");
    const dropped = await page.evaluateHandle(
      (line) => {
        const data = new DataTransfer();
        data.items.add(new File([line], "12.jsonl"));
        return data;
      },
      readFileSync(fixture("verl/0.9.1/3.jsonl"), "utf8"),
    );
    await page.dispatchEvent("h1", "drop", { dataTransfer: dropped });
    await page.waitForSelector("#shown-title:has-text('12.jsonl')");
  });
  await onPage(
    (page) => page.waitForSelector("#views :text('verl: 5 trajectories')").then(() => undefined),
    {
      search: "?url=mine.jsonl",
    },
  );
  await onPage(
    async (page) => {
      const error = await page.textContent("#error");
      assert.match(
        error ?? "",
        /url must be an address of this page's own host, got http:\/\/other/,
      );
    },
    { search: "?url=http://other.example/x.jsonl" },
  );
  await onPage(
    async (page) => {
      assert.match((await page.textContent("#error")) ?? "", /it must be there, got status 404/);
    },
    { search: "?url=gone.jsonl" },
  );
});

test("nothing leaves the page or its worker, not even to its own host", async () => {
  await onPage(async (page) => {
    await page.click("#examples >> text=verl");
    await page.waitForSelector(treeTitle);
    const before = host.visits.length;
    const way = (code: string) =>
      page.evaluate(
        `(async () => { try { await (${code}); return "reached"; } catch (error) { return String(error.name); } })()`,
      );
    const address = JSON.stringify(`${host.url}mine.jsonl?secret`);
    assert.equal(await way(`fetch(${address})`), "TypeError");
    assert.equal(
      await way(`fetch(${address}, { method: "POST", body: "x", mode: "no-cors" })`),
      "TypeError",
    );
    assert.equal(
      await way(
        `new Promise((yes, no) => { const i = new Image(); i.onload = yes; i.onerror = () => no(new TypeError()); i.src = ${address}; })`,
      ),
      "TypeError",
    );
    await way(`navigator.sendBeacon(${address}, "x")`);
    // A worker begun as the reader is: what it may do is what the reader may.
    const inWorker = await page.evaluate(
      (to) =>
        new Promise((resolve) => {
          const code = `fetch(${JSON.stringify(to)}).then(() => postMessage("reached"), ({ name }) => postMessage(name))`;
          const worker = new Worker(
            URL.createObjectURL(new Blob([code], { type: "text/javascript" })),
            { type: "module" },
          );
          worker.onmessage = ({ data }: MessageEvent<string>) => resolve(data);
        }),
      `${host.url}mine.jsonl?secret`,
    );
    assert.equal(inWorker, "TypeError");
    // A worker of an address would have no policy: the page may start none.
    const refused = await page.evaluate(
      () =>
        new Promise((resolve) => {
          try {
            const worker = new Worker("explore/reading-worker.js", { type: "module" });
            worker.onerror = () => resolve("refused");
            worker.onmessage = () => resolve("started");
          } catch {
            resolve("refused");
          }
        }),
    );
    assert.equal(refused, "refused");
    assert.deepEqual(
      host.visits.slice(before).filter(({ url }) => url.includes("secret")),
      [],
    );
  });
});

test("the page passes axe and is used by keyboard alone", async () => {
  await onPage(async (page) => {
    assert.deepEqual(await violations(page), []);
    await page.keyboard.press("Tab");
    assert.equal(await page.evaluate("document.activeElement.id"), "choose");
    await page.keyboard.press("Tab");
    await page.keyboard.press("Enter"); // the first example
    await page.waitForSelector(treeTitle);
    assert.equal(await page.evaluate("document.activeElement.id"), "shown");
    assert.deepEqual(await violations(page), []);
    await page.focus("#views .ax-scroll");
    await page.keyboard.press("ArrowRight");
    await page.keyboard.press("ArrowRight");
    assert.match((await page.textContent("#views .ax-body")) ?? "", /^Trajectory 0turn 1/);
    const explainer = page.locator("details[open] > details.explained > summary");
    await explainer.focus();
    await page.keyboard.press("Enter");
    await page.waitForSelector("#views .arpo-explain .arpo-text");
    await page.focus("#views .arpo-explain .arpo-text");
    const before = await page.textContent("#views .arpo-explain .arpo-chosen");
    await page.keyboard.press("ArrowRight");
    assert.notEqual(await page.textContent("#views .arpo-explain .arpo-chosen"), before);
  });
});

test("on a phone in portrait nothing is wider than the screen, and a finger chooses nodes", async () => {
  for (const colorScheme of ["light", "dark"] as const) {
    await onPage(
      async (page) => {
        await kept(page, `explore-phone-empty-${colorScheme}`);
        await page.tap("#examples >> text=ARPO's trees");
        await page.waitForSelector(treeTitle);
        const canvas = page.locator("#views canvas").first();
        await canvas.scrollIntoViewIfNeeded();
        const before = await page.textContent("#views .ax-body");
        await canvas.tap({ position: { x: 250, y: 50 } });
        assert.notEqual(await page.textContent("#views .ax-body"), before);
        await page.tap("details[open] > details.explained > summary");
        await page.waitForSelector("#views .arpo-explain .arpo-text");
        await page.tap("#views .arpo-explain .arpo-text span[data-token]:nth-child(5)");
        const wide = await page.evaluate("document.documentElement.scrollWidth");
        assert.equal(wide, 390);
        assert.deepEqual(await violations(page), []);
        await kept(page, `explore-phone-${colorScheme}`);
      },
      { ...phone, colorScheme },
    );
  }
});

test("hostile rollouts run nothing", async () => {
  const evil = `</script><script>window.ran=1</script><img src=x onerror="window.ran=2"><!--`;
  const rows = [1, 2].map((score) => ({
    input: evil,
    output: `${evil}${score}`,
    score,
    [evil]: 1,
  }));
  await onPage(async (page) => {
    await page.setInputFiles("#choose", {
      name: `${evil.replaceAll("/", "")}.jsonl`,
      mimeType: "text/plain",
      buffer: Buffer.from(rows.map((row) => JSON.stringify(row)).join("\n")),
    });
    await page.waitForSelector(treeTitle);
    assert.equal(await page.evaluate("window.ran"), undefined);
  });
});
