import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { Gate } from "../gate.js";
import { until } from "../until.js";
import { BrowserLab, codeCell, noBrowser as skip, notebookFile, type Tab } from "./browser-lab.js";

const slow = (gate: Gate): string => `import { display } from "arpo-lab/kernel";
const shown = display("at the start", { id: "place" });
for (let i = 1; i <= 100; i++) {
  console.log(\`line \${i}.\`);
  shown.update(\`place \${i}.\`);
  if ([5, 8, 50].includes(i)) ${gate.here}
}
"the end"`;
const asks = `import { prompt } from "arpo-lab/kernel";
const name = await prompt("Who? ");
\`hello \${name}\``;
const lines = Array.from({ length: 100 }, (_, i) => `line ${i + 1}.\n`).join("");

/** Of the first cell, the fourth, and the one that is never saved. */
let gates: Gate[];
let lab: BrowserLab;
let tab: Tab;
before(async () => {
  if (skip !== false) return;
  gates = [await Gate.open(), await Gate.open(), await Gate.open()];
  const endless = slow(gates[1]!).replace("100", "1e9");
  const cells = [
    codeCell("s", slow(gates[0]!)),
    codeCell("q", "1 + 1"),
    codeCell("p", asks),
    codeCell("e", endless),
  ];
  lab = await BrowserLab.start({ "long.ipynb": notebookFile(cells) });
  tab = await lab.tab();
  await tab.open("long.ipynb");
});
after(async () => {
  if (skip !== false) return;
  await lab.stop();
  for (const gate of gates) await gate.close();
});

const reload = async (): Promise<void> => {
  await tab.page.reload();
  await tab.page.waitForSelector(".jp-Notebook .jp-Cell .cm-content");
};
const printed = async (n: number): Promise<string> =>
  (
    await tab.page
      .locator(`${tab.cell(n)} [data-mime-type="application/vnd.jupyter.stdout"]`)
      .allTextContents()
  ).join("");
/** Waits until all lines are drawn: an output draws at most every 80 ms what is added to it. */
async function printsAll(n: number): Promise<void> {
  await until(async () => (await printed(n)).endsWith("line 100.\n"), "the last line is drawn");
  assert.equal(await printed(n), lines);
}
const promptOf = async (n: number): Promise<string> =>
  (await tab.page.textContent(`${tab.cell(n)} .jp-InputArea-prompt`)) ?? "";

test("a page that is reloaded while a cell runs shows all of its output", { skip }, async () => {
  await tab.run(1);
  await tab.run(2); // waits for its turn
  await tab.output(1, "line 5.");
  await reload();
  gates[0]!.pass();
  await tab.output(1, "line 8.");
  assert.match(await promptOf(1), /\*/);
  assert.match(await promptOf(2), /\*/);
  await tab.picture("reloaded-while-running");
  gates[0]!.pass(2);
  await tab.output(1, "the end");
  await printsAll(1);
  assert.match(await tab.outputText(1), /place 100\./);
  assert.equal(/place/g.exec(await tab.outputText(1))?.length, 1);
  await tab.output(2, "2");
  assert.match(await promptOf(1), /1/);
  assert.match(await promptOf(2), /2/);
});

test("two reloads in a row lose nothing, and an interrupt still works", { skip }, async () => {
  await tab.run(4);
  await tab.output(4, "line 5.");
  await reload();
  gates[1]!.pass();
  await tab.output(4, "line 8.");
  await reload();
  gates[1]!.pass();
  await tab.output(4, "line 50.");
  await tab.page.click('[data-jp-item-name="interrupt"] jp-button');
  await tab.output(4, "Interrupted");
  const text = await printed(4);
  const expected = Array.from(text.trim().split("\n"), (_, i) => `line ${i + 1}.\n`).join("");
  assert.equal(text, expected);
  assert.match(await promptOf(4), /3/);
});

test("a cell that ends while no page is there shows its output later", { skip }, async () => {
  await tab.run(1);
  await tab.output(1, "line 5.");
  await tab.page.close();
  gates[0]!.pass(3);
  const isIdle = () => lab.server.kernels.list.every((m) => m.execution_state === "idle");
  await until(isIdle, "the cell to end");
  tab = await lab.tab();
  await tab.open("long.ipynb");
  await tab.output(1, "the end");
  await printsAll(1);
  await tab.save();
  assert.match(readFileSync(join(lab.folder, "long.ipynb"), "utf8"), /line 100/);
});

test("what was saved and then cleared does not come back", { skip }, async () => {
  await tab.page.click(`${tab.cell(1)} .cm-content`);
  await tab.command("notebook:clear-all-cell-outputs");
  await tab.save();
  await reload();
  await tab.idle();
  await tab.run(2);
  await tab.output(2, "2");
  assert.equal(await tab.outputText(1), "");
});

test("a question that waits can be answered after a reload", { skip }, async () => {
  await tab.run(3);
  await tab.page.waitForSelector(`${tab.cell(3)} .jp-Stdin-input`);
  await reload();
  await tab.page.fill(`${tab.cell(3)} .jp-Stdin-input`, "Ada");
  await tab.page.press(`${tab.cell(3)} .jp-Stdin-input`, "Enter");
  await tab.output(3, "hello Ada");
});

test("a cell that was never saved comes back with its output", { skip }, async () => {
  await tab.save();
  await tab.page.click(`${tab.cell(4)} .jp-InputArea-prompt`);
  await tab.page.keyboard.press("b");
  await tab.edit(5, `console.log('never saved'); ${gates[2]!.here} 'over'`);
  await tab.run(5);
  await tab.output(5, "never saved");
  tab.page.once("dialog", (dialog) => void dialog.accept());
  await reload();
  gates[2]!.pass();
  await tab.output(5, "over");
  assert.match((await tab.page.textContent(`${tab.cell(5)} .cm-content`)) ?? "", /never saved/);
});
