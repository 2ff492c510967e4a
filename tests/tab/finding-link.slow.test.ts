// A finding as a link: made in one browser, opened at a token in another, run again to the same bytes, in Chromium.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test, { after, before } from "node:test";
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { linkLetters } from "../../src/base/text/link-text.js";
import { launchChromium } from "./browsers/chromium.js";
import { StaticHost } from "./static-host.js";

const { writeExplorePage } = (await import(
  new URL("../../../tools/tab/explore-page.mjs", import.meta.url).href
)) as { writeExplorePage: (out: string) => Promise<Record<string, number>> };

/** A tree that the engine of tabs has grown in Node. */
function grown(): { letters: string; text: string } {
  const module = new URL("./work/grown-finding.js", import.meta.url).href;
  const code = `const { grownFinding } = await import(${JSON.stringify(module)}); console.log(JSON.stringify(await grownFinding()));`;
  const out = execFileSync(process.execPath, ["--input-type=module", "-e", code], {
    env: { ...process.env, ARPO_LAB_BACKEND: "wasm" },
    encoding: "utf8",
    stdio: ["ignore", "pipe", "ignore"],
  });
  return JSON.parse(out) as { letters: string; text: string };
}

const out = mkdtempSync(join(tmpdir(), "finding-link-"));
let browser: Browser;
let host: StaticHost;
let finding: { letters: string; text: string };
before(async () => {
  await writeExplorePage(out);
  host = await StaticHost.start(out);
  browser = await launchChromium();
  finding = grown();
});
after(async () => {
  await browser.close();
  host.stop();
  rmSync(out, { recursive: true });
});

/** Opens the page in a browser that has never been there; nothing in it may fail unseen. */
async function fresh(
  hash: string,
  work: (page: Page) => Promise<void>,
  options: BrowserContextOptions = {},
): Promise<void> {
  const context = await browser.newContext(options);
  try {
    await context.grantPermissions(["clipboard-read", "clipboard-write"]);
    const page = await context.newPage();
    page.setDefaultTimeout(120_000);
    const faults: string[] = [];
    page.on("pageerror", ({ message }) => faults.push(message));
    await page.goto(`${host.url}explore.html${hash}`);
    await page.waitForSelector("body[data-ready]");
    await work(page);
    assert.deepEqual(faults, []);
  } finally {
    await context.close();
  }
}

const tree = "#views details[data-prompt][open] .arpo-explorer";
const again = "#views details[open] > [role=status]";
const selected = (page: Page) => page.textContent(`${tree} .ax-body`);

async function kept(page: Page, name: string): Promise<void> {
  const folder = process.env["ARPO_LAB_SCREENSHOTS"];
  if (folder !== undefined)
    await page.screenshot({ path: join(folder, `${name}.png`), fullPage: true });
}

test("a link opens a tree at a token in a fresh browser, with its words, scores and alternatives", async () => {
  await fresh(`#finding=${finding.letters}`, async (page) => {
    await page.waitForSelector(`${tree} .ax-title`);
    await page.focus(`${tree} .ax-scroll`);
    for (const key of ["ArrowRight", "Enter", "ArrowRight", "ArrowRight"])
      await page.keyboard.press(key);
    const before = await selected(page);
    assert.match(before ?? "", /%/, "a token with its chances is selected");
    await page.click(`${tree} [data-menu=export], ${tree} button:has-text("Export")`);
    await page.click(`${tree} [data-export=link]`);
    await page.waitForSelector(`${tree} .ax-toast:has-text("Copied the link")`);
    const link = await page.evaluate(() => navigator.clipboard.readText());
    assert.equal(link, page.url());
    assert.match(link, /#prompt=0&t=\d+&node=\d+&token=\d+&finding=/);
    await fresh(link.slice(link.indexOf("#")), async (other) => {
      await other.waitForSelector(`${tree} .ax-title`);
      assert.equal(await selected(other), before);
      assert.equal(await other.isVisible("#views > p:has-text('no scores')"), false);
    });
  });
});

test("Run again makes the same bytes in the page, and no connection is opened for it", async () => {
  await fresh(`#finding=${finding.letters}`, async (page) => {
    await page.waitForSelector(`${tree} .ax-title`);
    await page.click("[data-again]");
    await page.waitForSelector(`${again}:has-text("bytes")`);
    const said = (await page.textContent(again)) ?? "";
    assert.match(said, /^The same [\d,]+ bytes\. Run again in this page in [\d.]+ s, seed 3/);
    console.log(said);
    await kept(page, "finding-again");
    const scripts = host.visits.map(({ url }) => url).filter((url) => url.includes("explore/"));
    assert.ok(scripts.some((url) => url.endsWith("policy-tiny.js")));
  });
});

test("Run again makes the same bytes of each example that ships", async () => {
  await fresh("", async (page) => {
    await page.click("#examples >> text=ARPO's trees");
    await page.waitForSelector(`${tree} .ax-title`);
    const boxes = page.locator("#views details[data-prompt]");
    assert.equal(await boxes.count(), 2);
    for (const box of await boxes.all()) {
      if ((await box.getAttribute("open")) === null) await box.locator("> summary").click();
      await box.locator("[data-again]").click();
      const said = box.locator("> [role=status]:has-text('Run again in this page')");
      assert.match((await said.textContent()) ?? "", /^The same [\d,]+ bytes\./);
    }
  });
});

test("another seed is another tree, shown beside it; a policy that the page has not is asked for and taken", async () => {
  const told = JSON.parse(finding.text) as { tree: { policy: string; config: { seed: number } } };
  told.tree.config.seed = 4;
  const other = await linkLetters(JSON.stringify(told));
  await fresh(`#finding=${other}`, async (page) => {
    await page.click("[data-again]");
    await page.waitForSelector("#views :text('Another tree')");
  });
  told.tree.config.seed = 3;
  told.tree.policy = "mine";
  await fresh(`#finding=${await linkLetters(JSON.stringify(told))}`, async (page) => {
    await page.click("[data-again]");
    await page.waitForSelector(`#views :text('Drop its config.json')`);
    const folder = "data/models/tiny";
    await page.setInputFiles(
      "#choose",
      ["config.json", "model.safetensors", "tokenizer.json", "tokenizer_config.json"].map((name) =>
        join(folder, name),
      ),
    );
    await page.waitForSelector('#status:has-text("The policy\'s files are here")');
    await page.click("[data-again]");
    await page.waitForSelector(`${again}:has-text("The same")`);
  });
});

test("a small file opens as the link does", async () => {
  await fresh("", async (page) => {
    const file = {
      name: "finding.json",
      mimeType: "application/json",
      buffer: Buffer.from(finding.text),
    };
    await page.setInputFiles("#choose", file);
    await page.waitForSelector(`${tree} .ax-title`);
  });
});

test("hostile links get a plain error and run nothing", async () => {
  const evil = `</script><script>window.ran=1</script><img src=x onerror="window.ran=2">`;
  const told = JSON.parse(finding.text) as Record<string, unknown> & { tree: { prompt: object } };
  const deep = '{"finding":1,"tree":' + '{"a":'.repeat(1e5) + "1" + "}".repeat(1e5) + "}";
  for (const [letters, says] of [
    ["x".repeat(100), /the link must be whole/],
    [finding.letters.slice(0, -40), /the link must be whole/],
    [await linkLetters("[1]"), /the link must be whole/],
    [await linkLetters(JSON.stringify("x".repeat(5 << 20))), /it must have at most 4 MB/],
    [await linkLetters(deep), /at most 500 lists and objects/],
    [await linkLetters("[".repeat(1e6) + "]".repeat(1e6)), /the link must be whole/],
    [await linkLetters(JSON.stringify({ ...told, ids: 3 })), /ids must be a list of token ids/],
    [await linkLetters(JSON.stringify({ ...told, tree: { nodes: [1] } })), /must be one tree/],
  ] as const) {
    await fresh(`#finding=${letters}`, async (page) => {
      const error = page.locator("#error:not(:empty)");
      assert.match((await error.textContent()) ?? "", says);
    });
  }
  const words = (told["words"] as string[]).map((word, i) => (i % 2 ? evil : word));
  const scores = (told["scores"] as unknown[]).map(() => [1, evil]);
  const hostile = { ...told, words, scores, tree: { ...told.tree, policy: evil } };
  await fresh(`#finding=${await linkLetters(JSON.stringify(hostile))}`, async (page) => {
    await page.waitForSelector(`${tree} .ax-title`);
    await page.click("[data-again]");
    await page.waitForSelector("#views :text('Drop its config.json')");
    assert.equal(await page.evaluate("window.ran"), undefined);
  });
  // Settings that would take for ever.
  const { config } = told.tree as unknown as { config: object };
  for (const [change, says] of [
    [{ n: 1e6 }, /config.n must be an integer from 0 to 1024, got 1000000/],
    [{ responseLength: 1e6 }, /its responseLength must be at most 8192, got 1000000/],
  ] as const) {
    const large = { ...told, tree: { ...told.tree, config: { ...config, ...change } } };
    await fresh(`#finding=${await linkLetters(JSON.stringify(large))}`, async (page) => {
      await page.waitForSelector("#error:not(:empty), [data-again]");
      if (await page.isVisible("[data-again]")) await page.click("[data-again]");
      const where = page.locator(`#error:not(:empty), ${again}:has-text("at most")`);
      assert.match((await where.textContent()) ?? "", says);
    });
  }
});
