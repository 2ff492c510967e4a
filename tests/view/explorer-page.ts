// A page with an explorer on it, in a browser that a whole file of tests shares.
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before } from "node:test";
import { pathToFileURL } from "node:url";
import { type Browser, type BrowserContextOptions, chromium, type Page } from "playwright-core";
import type { RolloutTree } from "../../src/rollout/rollout-tree.js";
import { toHtml } from "../../src/view/export/to-html.js";
import { explore } from "../../src/view/explorer/explore.js";
import type { ExploreOptions } from "../../src/view/explorer/make-payload.js";
import { browserPath } from "./browser.js";

export const skip = browserPath === undefined && "no Chromium on this machine";
/** Temporary files of these tests. */
export const folder = mkdtempSync(join(tmpdir(), "arpo-explorer-"));
const pictures = process.env["ARPO_LAB_SCREENSHOTS"];
const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
let browser: Browser;

before(async () => {
  if (skip !== false) return;
  browser = await chromium.launch({ executablePath: browserPath!, args: ["--no-sandbox"] });
});
after(async () => {
  if (skip === false) await browser.close();
  rmSync(folder, { recursive: true, force: true });
});

let pages = 0;
/** Opens a page and works on it; no error may be left uncaught. */
export async function onPage(
  html: string,
  work: (page: Page) => Promise<void>,
  options: BrowserContextOptions = {},
): Promise<void> {
  const file = join(folder, `page-${pages++}.html`);
  writeFileSync(file, html);
  const context = await browser.newContext({ viewport: { width: 1400, height: 900 }, ...options });
  const page = await context.newPage();
  page.setDefaultTimeout(60_000);
  const errors: string[] = [];
  page.on("pageerror", ({ message }) => errors.push(message));
  try {
    await page.goto(pathToFileURL(file).href);
    await page.waitForFunction(() =>
      ["arpo-explorer", "arpo-loop", "arpo-tuner", "arpo-scored"].some(
        (name) => performance.getEntriesByName(name).length > 0,
      ),
    );
    await work(page);
    assert.deepEqual(errors, []);
  } finally {
    await context.close();
  }
}

/** What axe finds wrong; headings and landmarks are the page's that a view stands on. */
export async function violations(page: Page): Promise<string[]> {
  await page.evaluate(axe);
  return await page.evaluate(
    `axe.run(document, { resultTypes: ["violations"], rules: { region: { enabled: false }, "landmark-one-main": { enabled: false }, "page-has-heading-one": { enabled: false }, "heading-order": { enabled: false } } }).then(({ violations }) => violations.map(({ id, nodes }) => id + ": " + nodes.map(({ html, any }) => html.slice(0, 160) + (any[0]?.message ?? "")).join(" | ")))`,
  );
}

/** A tree as a page of its own. */
export const pageOf = (tree: RolloutTree, options: ExploreOptions = {}) =>
  toHtml(explore(tree, options));
/** Until the next frame is drawn. */
export const drawn = (page: Page) =>
  page.evaluate(
    () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))),
  );
export const textOf = async (page: Page, at: string) => (await page.textContent(at)) ?? "";

/** Keeps a picture where `ARPO_LAB_SCREENSHOTS` names a folder. */
export async function kept(page: Page, name: string): Promise<void> {
  if (pictures === undefined) return;
  mkdirSync(pictures, { recursive: true });
  await page.screenshot({ path: join(pictures, `${name}.png`), fullPage: true });
}
