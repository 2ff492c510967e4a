import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test, { after, before } from "node:test";
import type { Browser, Page } from "playwright-core";
import { writeSite } from "../../apps/site/write/write-site.js";
import { launchChromium } from "./browsers/chromium.js";
import { newNotebook, openLab, patience } from "./lab-page.js";
import { StaticHost } from "./static-host.js";

const pictures = process.env["ARPO_LAB_SCREENSHOTS"];
const folder = mkdtempSync(join(tmpdir(), "site-"));
let browser: Browser;
let host: StaticHost;
let page: Page;

before(async () => {
  await writeSite({ out: folder });
  host = await StaticHost.start(folder);
  browser = await launchChromium();
  const context = await browser.newContext({ viewport: { width: 390, height: 844 } });
  page = await openLab(context, `${host.url}lab.html`);
  page.setDefaultTimeout(patience);
});
after(async () => {
  await browser.close();
  host.stop();
  rmSync(folder, { recursive: true });
});

const cell = (n: number): string =>
  `.jp-NotebookPanel:not(.lm-mod-hidden) .jp-Notebook .jp-Cell:nth-child(${n})`;
const marked = (n: number, text: RegExp): Promise<void> =>
  page
    .locator(`${cell(n)} .arpo-Stale`)
    .filter({ hasText: text })
    .waitFor();
const output = (n: number, text: string): Promise<void> =>
  page
    .locator(`${cell(n)} .jp-Cell-outputArea`)
    .filter({ hasText: text })
    .waitFor();

test("in a tab a stale cell is marked and runs by a key", async () => {
  await newNotebook(page);
  for (const [i, code] of ["const side = 3;", "side * side"].entries()) {
    await page.click(`${cell(i + 1)} .cm-content`);
    await page.keyboard.insertText(code);
    await page.keyboard.press("Shift+Enter");
  }
  await output(2, "9");
  await page.click(`${cell(1)} .cm-content`);
  await page.keyboard.press("Control+a");
  await page.keyboard.insertText("const side = 4;");
  await marked(1, /^edited: the text differs from what ran$/);
  await marked(2, /^stale: the cell that declared side is edited$/);
  if (pictures !== undefined) await page.screenshot({ path: join(pictures, "stale-tab.png") });
  await page.keyboard.press("Alt+r");
  await output(2, "16");
  for (const n of [1, 2]) {
    await page.locator(`${cell(n)} .arpo-Stale`).waitFor({ state: "detached" });
  }
});
