import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { BrowserLab, codeCell, noBrowser as skip, notebookFile, type Tab } from "./browser-lab.js";

let lab: BrowserLab;
let tab: Tab;
before(async () => {
  if (skip !== false) return;
  const heading = { cell_type: "markdown", id: "h", metadata: {}, source: "# A section" };
  const slider = codeCell(
    "s",
    'import { display } from "arpo-lab/kernel";\n' +
      `display.html('<input class="mine" type="range" min="0" max="10" value="5"><button class="mine">b</button>'); 0`,
  );
  lab = await BrowserLab.start({ "keys.ipynb": notebookFile([heading, slider]) });
  tab = await lab.tab();
  await tab.open("keys.ipynb");
});
after(async () => {
  if (skip === false) await lab.stop();
});

test("a key in a control of an output is the control's, not the notebook's", { skip }, async () => {
  await tab.run(2);
  const slider = tab.page.locator("input.mine");
  await slider.waitFor();
  await slider.focus();
  for (const key of ["ArrowLeft", "ArrowLeft", "ArrowUp", "ArrowRight"]) {
    await tab.page.keyboard.press(key);
  }
  assert.equal(await slider.inputValue(), "5");
  await tab.page.keyboard.press("ArrowLeft");
  assert.equal(await slider.inputValue(), "4");
  await tab.page.locator("button.mine").focus();
  for (const key of ["ArrowLeft", "d", "d", "b", "m"]) await tab.page.keyboard.press(key);
  assert.equal(await slider.isVisible(), true);
  assert.equal(await tab.page.locator(".jp-Notebook .jp-Cell").count(), 2);
  assert.equal(await tab.page.locator(".jp-collapseHeadingButton.jp-mod-collapsed").count(), 0);
});
