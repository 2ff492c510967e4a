import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { BrowserLab, codeCell, noBrowser as skip, notebookFile, type Tab } from "./browser-lab.js";

const reward = `const reward = (text: string) => {
  const words = text.split(" ");
  const score = words.length / 10;
  return score;
};`;
const rows = `const texts = ["one two", "three"];
const scores: number[] = [];
for (const text of texts) {
  await null;
  scores.push(reward(text));
}
scores`;

let lab: BrowserLab;
let tab: Tab;
before(async () => {
  if (skip !== false) return;
  const cells = [codeCell("a", reward), codeCell("b", rows)];
  lab = await BrowserLab.start({ "debugger.ipynb": notebookFile(cells) });
  tab = await lab.tab();
});
after(async () => {
  if (skip === false) await lab.stop();
});

const bug = ".jp-NotebookPanel:not(.lm-mod-hidden) .jp-DebuggerBugButton";
const highlight = ".jp-DebuggerEditor-highlight";
const variable = (name: string) =>
  tab.page.locator(".jp-DebuggerVariables-name", { hasText: new RegExp(`^${name}$`) });
/** A second press would stop what the first one starts, so there is one, once the button listens. */
async function startDebugger(): Promise<void> {
  await tab.page.click(`${bug}:not([aria-disabled="true"], [disabled])`);
  await tab.page.waitForSelector(`${bug}[aria-pressed="true"]`);
}

/** Clicks left of a line's number. */
async function dot(cell: number, line: number): Promise<void> {
  const gutter = tab.page.locator(`${tab.cell(cell)} .cm-gutter.cm-breakpoint-gutter`);
  await gutter.waitFor({ state: "attached" });
  const at = (await gutter.boundingBox())!;
  const row = (await tab.page
    .locator(`${tab.cell(cell)} .cm-line`)
    .nth(line - 1)
    .boundingBox())!;
  const press = async () => await tab.page.mouse.click(at.x + at.width / 2, row.y + row.height / 2);
  const seen = tab.page.locator(".jp-DebuggerBreakpoint");
  await press();
  // JupyterLab forgets a press that comes before the kernel has named the cell's file.
  if (
    !(await seen.waitFor({ timeout: 20_000 }).then(
      () => true,
      () => false,
    ))
  )
    await press();
  await seen.waitFor();
}
const panelButton = async (name: string) => await tab.command(`debugger:${name}`);

test("a cell stops at a red dot, in a function of an earlier cell", { skip }, async () => {
  await tab.open("debugger.ipynb");
  await startDebugger();
  await tab.page.waitForSelector(`${tab.cell(1)} .cm-breakpoint-gutter`, { state: "attached" });
  await tab.run(1);
  await tab.idle();
  await dot(1, 3);
  await tab.run(2);
  await tab.page.waitForSelector(`${tab.cell(1)} ${highlight}`);
  await variable("words").waitFor();
  await tab.page.locator(".jp-DebuggerVariables", { hasText: '"one"' }).waitFor();
  await tab.picture("debugger-stopped");
  assert.match(
    (await tab.page.locator(`${tab.cell(1)} ${highlight}`).textContent()) ?? "",
    /score = words/,
  );
});

test("steps and continue go on, and the cell ends", { skip }, async () => {
  await panelButton("next");
  await tab.page.locator(`${tab.cell(1)} ${highlight}`, { hasText: "return score" }).waitFor();
  await panelButton("continue");
  await tab.page.locator(`${tab.cell(1)} ${highlight}`, { hasText: "score = words" }).waitFor();
  await panelButton("continue");
  await tab.output(2, "[ 0.2, 0.1 ]");
});
