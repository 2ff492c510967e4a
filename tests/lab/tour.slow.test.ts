import assert from "node:assert/strict";
import { cpSync, existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { validateNotebook } from "../../kernel/notebook/validate.js";
import { BrowserLab, noBrowser as skip, type Tab } from "./browser-lab.js";

const root = fileURLToPath(new URL("../../..", import.meta.url));

let lab: BrowserLab;
let tab: Tab;
before(async () => {
  if (skip !== false) return;
  lab = await BrowserLab.start({});
  // Beside the lessons lies what they load.
  cpSync(join(root, "notebooks"), join(lab.folder, "notebooks"), { recursive: true });
  for (const path of ["data/models/tiny", "data/loop.json"])
    cpSync(join(root, path), join(lab.folder, path), { recursive: true });
  tab = await lab.tab();
});
after(async () => {
  if (skip === false) await lab.stop();
});

const file = (name: string): string => join(lab.folder, "notebooks", name);

test("opening a lesson does not change it", { skip }, async () => {
  await tab.open("notebooks/00-tour.ipynb");
  await tab.saved();
  await tab.picture("tour-opened");
});

test("all of the tour runs in the page and its figures are drawn", { skip }, async () => {
  await tab.page.click(`${tab.cell(1)}`);
  await tab.command("notebook:run-all-cells");
  await tab.page.waitForFunction(
    () =>
      ![...document.querySelectorAll(".jp-CodeCell .jp-InputPrompt")].some((prompt) =>
        /\[[ *]\]/.test(prompt.textContent ?? ""),
      ),
    undefined,
    { timeout: 300_000 },
  );
  assert.equal(
    await tab.page.locator('[data-mime-type="application/vnd.jupyter.error"]').count(),
    0,
    "no cell failed",
  );
  assert.ok((await tab.page.locator(".arpo-explorer").count()) > 0, "the tree is drawn");
  for (const group of ["Policies", "Trees", "Batches"]) {
    await tab.page.locator(".arpo-Values-group", { hasText: group }).waitFor();
  }
  await tab.picture("tour-run");
  await tab.page.locator(".arpo-explorer").first().scrollIntoViewIfNeeded();
  await tab.picture("tour-tree");
});

test("the tour is saved, renamed and opened again with its outputs", { skip }, async () => {
  await tab.save();
  const saved = JSON.parse(readFileSync(file("00-tour.ipynb"), "utf8")) as { cells: unknown[] };
  validateNotebook(saved);
  const renamed = tab.command("docmanager:rename"); // ends with its dialog
  await tab.page.fill(".jp-Dialog input", "my-tour.ipynb");
  await tab.page.click(".jp-Dialog button.jp-mod-accept");
  await renamed;
  await tab.page.waitForSelector('.lm-TabBar-tabLabel:text("my-tour.ipynb")');
  assert.ok(!existsSync(file("00-tour.ipynb")));
  assert.deepEqual(JSON.parse(readFileSync(file("my-tour.ipynb"), "utf8")), saved);
  await tab.page.close();
  tab = await lab.tab();
  await tab.open("notebooks/my-tour.ipynb");
  await tab.page.waitForSelector(".arpo-explorer svg, .arpo-explorer canvas", {
    state: "attached",
  });
});
