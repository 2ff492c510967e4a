// What comes with a notebook does nothing by itself: no command, no form, no other page, nothing that lies
// over the page; in Markdown cells, in outputs, and in HTML that was run here.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import {
  actingParts,
  assertNothingActed,
  baitCells,
  baits,
  coveringParts,
  strike,
} from "./baits.js";
import { BrowserLab, codeCell, noBrowser as skip, notebookFile, type Tab } from "./browser-lab.js";

let lab: BrowserLab;
let tab: Tab;
before(async () => {
  if (skip !== false) return;
  lab = await BrowserLab.start({
    "baits.ipynb": notebookFile(baitCells(baits)),
    "own.ipynb": notebookFile([
      codeCell("own", `import { html } from "arpo-lab/kernel";\nhtml(${JSON.stringify(baits[0])})`),
      codeCell("next", 'console.log("this cell " + "has run")'),
    ]),
  });
  tab = await lab.tab();
});
after(async () => {
  if (skip === false) await lab.stop();
});

test("nothing that came with a notebook acts when it is clicked", { skip }, async () => {
  await tab.open("baits.ipynb");
  const place = tab.page.url();
  const struck = await strike(tab);
  assert.ok(struck >= baits.length * 2, `${struck} of ${baits.length * 3} were there`);
  await assertNothingActed(tab, place);
  assert.deepEqual(await actingParts(tab), []);
});

test("nothing of it lies over the rest of the page", { skip }, async () => {
  assert.deepEqual(await coveringParts(tab), []);
});

test("nor does what a cell that was run here shows", { skip }, async () => {
  await tab.open("own.ipynb");
  const place = tab.page.url();
  await tab.run(1);
  await tab.page.locator(`${tab.cell(1)} .bait`).waitFor();
  await strike(tab);
  await assertNothingActed(tab, place);
});
