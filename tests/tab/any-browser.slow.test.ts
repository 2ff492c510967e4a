// The site in the browser that ARPO_LAB_TAB_BROWSER names, as far as it can be driven without Playwright.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test, { after, before } from "node:test";
import { writeSite } from "../../apps/site/write/write-site.js";
import type { DrivenPage, TabBrowser } from "./browsers/driven.js";
import { openBrowser } from "./browsers/open-browser.js";
import {
  type Lab,
  newNotebook,
  patience,
  ready,
  runAbove,
  runCell,
  shown,
  untilPage,
} from "./lab-page.js";
import { StaticHost } from "./static-host.js";

const folder = mkdtempSync(join(tmpdir(), "site-"));
let browser: TabBrowser;
let host: StaticHost;
let page: DrivenPage;
before(async () => {
  await writeSite({ out: folder });
  host = await StaticHost.start(folder);
  browser = await openBrowser();
  page = await browser.newPage();
});
after(async () => {
  await (page as DrivenPage | undefined)?.close();
  await browser.close();
  host.stop();
  rmSync(folder, { recursive: true });
});

test("a link opens the first lesson with its outputs, isolated on a host without headers", async () => {
  await page.goto(`${host.url}lab.html`);
  await ready(page);
  // Which of them stand on the screen depends on its height.
  await shown(page, /\w/);
  assert.equal(await page.evaluate(() => crossOriginIsolated, undefined), true);
});

let path: string;
test("a new notebook's cells run, and Python in them", async () => {
  path = await newNotebook(page);
  await runCell(page, "const x: number = 20; `${x + 22} is shown`");
  await shown(page, "42 is shown");
  const python = 'import { pythonTool } from "arpo-lab/tools"; const python = pythonTool();';
  await runCell(page, `${python} (await python.pool.run("print(6 * 7, 'from Python')")).text`);
  await shown(page, "42 from Python");
});

test("what was written is there after a reload, where the browser keeps files; else the page says so", async () => {
  await page.evaluate(
    () => (globalThis as unknown as Lab).jupyterapp.shell.currentWidget.context.save(),
    undefined,
  );
  const said = await page.evaluate(
    () => document.querySelector("body > [role=status]")?.textContent ?? "",
    undefined,
  );
  // A session that is driven keeps nothing in WebKit, as a private window.
  if (browser.name.startsWith("WebKit")) {
    assert.match(said, /This browser keeps no files here: download what you want to keep/);
    return;
  }
  assert.equal(said, "");
  await page.goto(`${host.url}lab/tree/${path}`);
  await ready(page);
  await shown(page, "42 from Python");
});

test("the first lesson runs from above to below", async () => {
  await page.goto(`${host.url}lab/tree/notebooks/00-tour.ipynb`);
  await ready(page);
  const faults = await page.evaluate(async () => {
    const { commands, shell } = (globalThis as unknown as Lab).jupyterapp;
    await commands.execute("notebook:run-all-cells");
    const { cells } = shell.currentWidget.content.model.toJSON();
    const wrong = (output: object) => "ename" in output;
    return cells.flatMap(({ outputs = [] }) => outputs.filter(wrong));
  }, undefined);
  assert.deepEqual(faults, []);
  await runAbove(page, "'after ' + 'all'");
  await shown(page, "after all");
});

test("the page that is only the explorer shows a tree", async () => {
  await page.goto(`${host.url}explore.html`);
  const isThere = (what: string): boolean => document.querySelector(what) !== null;
  await untilPage(page, isThere, "#examples button", patience);
  await page.evaluate(
    () => document.querySelector<HTMLElement>("#examples button")!.click(),
    undefined,
  );
  await untilPage(page, isThere, "#views details[open] .arpo-explorer .arpo-title", patience);
});
