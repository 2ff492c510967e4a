import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { BrowserLab, codeCell, noBrowser as skip, notebookFile, type Tab } from "./browser-lab.js";

const loop = `const scores: number[] = [];
for (const text of ["one two", "three"]) {
  const words = text.split(" ");
  await null;
  scores.push(words.length);
}
scores.join()`;

let lab: BrowserLab;
let tab: Tab;
before(async () => {
  if (skip !== false) return;
  const cells = [
    codeCell("a", loop),
    codeCell("b", "for (;;) {\n  await null;\n}"),
    codeCell("c", "6 * 7"),
  ];
  lab = await BrowserLab.start({ "lines.ipynb": notebookFile(cells) });
  tab = await lab.tab();
});
after(async () => {
  if (skip === false) await lab.stop();
});

const mark = (cell: number) => tab.page.locator(`${tab.cell(cell)} .arpo-ByLine-line`);
const value = (text: string) =>
  tab.page.locator(".arpo-Values-item", { hasText: new RegExp(`^${text}`) });
async function standsAt(cell: number, text: string): Promise<void> {
  await mark(cell).filter({ hasText: text }).waitFor();
}
/** Waits until no cell is run by line any more. */
async function ended(): Promise<void> {
  const button = '[data-command="arpo-lab:run-by-line-continue"]';
  await tab.page.locator(button).waitFor({ state: "hidden" });
}
async function choose(cell: number): Promise<void> {
  await tab.page.click(`${tab.cell(cell)} .cm-content`);
}

test("a cell runs line by line, and the values panel follows", { skip }, async () => {
  await tab.open("lines.ipynb");
  await tab.page.locator(".arpo-Values-title").waitFor();
  await choose(1);
  await tab.page.keyboard.press("F8");
  await standsAt(1, "const scores");
  const lines = ["for (const text", "const words", "await null", "scores.push"];
  for (const text of lines) {
    await tab.page.keyboard.press("F8");
    await standsAt(1, text);
  }
  await value("words .*one").waitFor();
  await tab.picture("run-by-line");
  for (const text of ["for (const text", "const words"]) {
    await tab.page.keyboard.press("F8");
    await standsAt(1, text);
  }
  await value("text .*three").waitFor();
  assert.equal(await mark(1).count(), 1);
});

test("a value at the line is shown while the cell stands", { skip }, async () => {
  await value("scores").click();
  await tab.page.locator(".arpo-Value", { hasText: "[ 2 ]" }).waitFor();
  await tab.picture("run-by-line-value");
  await choose(1);
});

test("continue goes on to the end, and cells run through again", { skip }, async () => {
  await tab.page.keyboard.press("Shift+F8");
  await tab.output(1, "'2,1'");
  await ended();
  assert.equal(await mark(1).count(), 0);
  // JupyterLab's own debugger has not taken it for its own.
  await tab.page.locator('.jp-DebuggerBugButton[aria-pressed="false"]').waitFor();
  await value("scores").waitFor();
  await tab.run(3);
  await tab.output(3, "42");
});

test(
  "an interrupt ends a cell that stands, and the next runs by line again",
  { skip },
  async () => {
    await choose(2);
    await tab.page.keyboard.press("F8");
    await standsAt(2, "await null");
    await tab.command("notebook:interrupt-kernel");
    await tab.output(2, "Interrupted");
    await ended();
    assert.equal(await mark(2).count(), 0);
    await choose(3);
    await tab.page.keyboard.press("F8");
    await standsAt(3, "6 * 7");
    await tab.page.keyboard.press("F8");
    await ended();
    assert.equal(await mark(3).count(), 0);
    await tab.output(3, "42");
  },
);

test("a debugger that is started while a cell stands is the person's", { skip }, async () => {
  await choose(1);
  await tab.page.keyboard.press("F8");
  await standsAt(1, "const scores");
  await tab.page.click(".jp-DebuggerBugButton");
  const pressed = tab.page.locator('.jp-DebuggerBugButton[aria-pressed="true"]');
  await pressed.waitFor();
  await choose(1);
  await tab.page.keyboard.press("Shift+F8");
  await tab.output(1, "'2,1'");
  await ended();
  await tab.run(3);
  await tab.output(3, "42");
  assert.equal(await pressed.count(), 1);
});
