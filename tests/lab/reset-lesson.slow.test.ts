import assert from "node:assert/strict";
import { cpSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { BrowserLab, noBrowser as skip, type Tab } from "./browser-lab.js";

const root = fileURLToPath(new URL("../../..", import.meta.url));
const name = "01-tokens-and-entropy.ipynb";

let lab: BrowserLab;
let tab: Tab;
before(async () => {
  if (skip !== false) return;
  lab = await BrowserLab.start({}, { lessons: { copies: "lessons", shipped: "notebooks" } });
  for (const folder of ["notebooks", "lessons"]) {
    mkdirSync(join(lab.folder, folder));
    cpSync(join(root, "notebooks", name), join(lab.folder, folder, name));
  }
  tab = await lab.tab();
});
after(async () => {
  if (skip === false) await lab.stop();
});

const at = (folder: string): string => readFileSync(join(lab.folder, folder, name), "utf8");

test("a lesson that was changed is brought back as it was shipped", { skip }, async () => {
  const { page } = tab;
  const fileMenu = async (words: string) => {
    await page.locator('.lm-MenuBar-itemLabel:text("File")').click();
    await page.locator(".lm-Menu-item", { hasText: words }).click();
  };
  await tab.open(`lessons/${name}`);
  await tab.edit(2, "const mine = 'my own cell';");
  await tab.save();
  assert.match(at("lessons"), /my own cell/);
  await tab.edit(2, "const later = 'not saved';");

  await fileMenu("Reset This Lesson");
  await page.locator(".jp-Dialog", { hasText: "Reset this lesson?" }).waitFor();
  await tab.picture("reset-lesson");
  await page.locator(".jp-Dialog .jp-mod-reject").click();
  assert.match(at("lessons"), /my own cell/);

  await fileMenu("Reset This Lesson");
  await page.locator(".jp-Dialog .jp-mod-accept").click();
  await page.locator(tab.cell(2), { hasText: "not saved" }).waitFor({ state: "detached" });
  await tab.saved();
  assert.ok(at("lessons") === at("notebooks"), "the shipped bytes");
  assert.equal(await page.locator(".jp-Dialog").count(), 0);

  await fileMenu("Revert Notebook to Checkpoint");
  await page.locator(".jp-Dialog .jp-mod-accept").click();
  await page.locator(tab.cell(2), { hasText: "not saved" }).waitFor();
});
