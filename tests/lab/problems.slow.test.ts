import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { BrowserLab, codeCell, noBrowser as skip, notebookFile, type Tab } from "./browser-lab.js";

let lab: BrowserLab;
let tab: Tab;
before(async () => {
  if (skip !== false) return;
  const cells = [
    codeCell("a", "let width: number = 3;"),
    codeCell("b", "width.size"),
    codeCell("c", ""),
  ];
  lab = await BrowserLab.start({ "problems.ipynb": notebookFile(cells) });
  tab = await lab.tab();
});
after(async () => {
  if (skip === false) await lab.stop();
});

const underlined = (n: number) => tab.page.locator(`${tab.cell(n)} .cm-lintRange-error`);

test("what keeps a cell from running is underlined while it is written", { skip }, async () => {
  await tab.open("problems.ipynb");
  assert.equal(await underlined(2).count(), 0, "a text that nobody edits is left alone");
  await tab.page.click(`${tab.cell(3)} .cm-content`);
  await tab.page.keyboard.type("const area: string = width;\nwidht");
  await underlined(3).filter({ hasText: "widht" }).waitFor();
  assert.equal(
    await underlined(3).count(),
    1,
    "of a name that another cell declares nothing is claimed",
  );
  await tab.run(1);
  await underlined(3).filter({ hasText: "area" }).waitFor();
  await tab.page.click(`${tab.cell(3)} .cm-content`);
  await tab.page.keyboard.press("Control+Home");
  await tab.page.keyboard.press("Alt+F8");
  const announced = tab.page.locator(`${tab.cell(3)} .cm-announced`, { hasText: /number.*string/ });
  await announced.waitFor({ state: "attached" });
  for (const colorScheme of ["light", "dark"] as const) {
    await tab.page.emulateMedia({ colorScheme });
    await tab.page.waitForSelector(`body[data-jp-theme-light="${colorScheme === "light"}"]`, {
      state: "attached",
    });
    await tab.page.mouse.move(5, 5);
    await underlined(3).first().hover();
    await tab.page.locator(".cm-tooltip-lint").waitFor();
    await tab.picture(`problems-${colorScheme}`);
  }
  assert.equal(
    await tab.page.locator(`${tab.cell(3)} .jp-OutputArea-child`).count(),
    0,
    "nothing ran",
  );
});

test("what is fixed is no longer underlined, also by another cell", { skip }, async () => {
  await tab.edit(3, "const area: number = width * 2;\nwidth + later");
  await underlined(3).filter({ hasText: "later" }).waitFor();
  await tab.edit(2, "const later = 5;");
  await tab.run(2);
  await underlined(3).waitFor({ state: "detached" });
  await tab.run(3);
  await tab.output(3, "8");
});
