import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { BrowserLab, codeCell, noBrowser as skip, notebookFile, type Tab } from "./browser-lab.js";

const make = `import { html } from "arpo-lab/kernel";
const answer = 42;
const weights = new Float32Array([1, 2, 3]);
const page = html("<b id='shown'>a value that shows itself</b>");
class Forest { [Symbol.for("arpo-lab.summary")]() { return { group: "Trees", text: "3 trees" }; } }
const forest = new Forest();`;

interface Question {
  done: Promise<unknown>;
  dispose(): void;
}
interface Kernel {
  requestDebug(question: unknown): Question;
}
/** Only in the page: the application, which the page offers by this name. */
declare const jupyterapp: {
  shell: { currentWidget: { sessionContext: { session: { kernel: Kernel } } } };
};

let lab: BrowserLab;
let tab: Tab;
before(async () => {
  if (skip !== false) return;
  const cells = [codeCell("a", make), codeCell("b", "const later = 'more'")];
  lab = await BrowserLab.start({ "values.ipynb": notebookFile(cells) });
  tab = await lab.tab();
});
after(async () => {
  if (skip === false) await lab.stop();
});

const item = (name: string) => tab.page.locator(`.arpo-Values-item[data-name="${name}"]`);

test("the values panel is there the first time and says why it is empty", { skip }, async () => {
  await tab.open("values.ipynb");
  const empty = tab.page.locator(".arpo-Values-empty");
  await empty.filter({ hasText: "Nothing yet" }).waitFor();
  await tab.picture("values-empty");
});

test("the values panel lists what cells made, by group, after each cell", { skip }, async () => {
  await tab.run(1);
  await item("forest").waitFor();
  const groups = await tab.page.locator(".arpo-Values-group").allTextContents();
  assert.deepEqual(
    groups.map((text) => text.replace(/ \(.*/, "")),
    ["Trees", "Tensors", "Variables", "Functions"],
  );
  assert.equal(await item("answer").textContent(), "answer number 42");
  assert.equal(await item("later").count(), 0);
  await tab.run(2);
  await item("later").waitFor();
});

test(
  "a click shows a value beside the notebook, another click shows it anew",
  { skip },
  async () => {
    await item("page").click();
    await tab.page.waitForSelector(".arpo-Value #shown");
    await tab.picture("values");
    await item("answer").click();
    await tab.page.locator(".arpo-Value", { hasText: "42" }).waitFor();
    await tab.edit(2, "answer2 = 1; const answer = 43;".replace("answer2 = 1; ", ""));
    await tab.run(2);
    await item("answer").filter({ hasText: "43" }).waitFor();
    await item("answer").click();
    await tab.page.locator(".arpo-Value", { hasText: "43" }).waitFor();
    assert.equal(await tab.page.locator(".lm-TabBar-tab", { hasText: /^answer$/ }).count(), 1);
  },
);

test(
  "the values panel knows the session after a reload, and nothing after a restart",
  { skip },
  async () => {
    await tab.save();
    await tab.page.reload();
    await item("forest").waitFor();
    await item("forest").click();
    await tab.page.locator(".arpo-Value", { hasText: "Forest" }).waitFor();
    await tab.page.click(`${tab.cell(1)} .cm-content`);
    await tab.page.click('[data-jp-item-name="restart"] jp-button');
    await tab.page.click(".jp-Dialog button.jp-mod-accept");
    await tab.page.locator(".arpo-Values-empty", { hasText: "Nothing yet" }).waitFor();
    await tab.idle();
    await tab.run(2);
    await item("answer").waitFor();
    assert.equal(await item("forest").count(), 0);
  },
);

test(
  "a question of the debugger that a restart cut off is no error of the page",
  { skip },
  async () => {
    await tab.page.evaluate(async () => {
      const { kernel } = jupyterapp.shell.currentWidget.sessionContext.session;
      const question = kernel.requestDebug({ type: "request", seq: 1, command: "modules" });
      const left = new Promise((resolve) => addEventListener("unhandledrejection", resolve));
      // As JupyterLab's panels do: a promise that nobody looks after.
      void question.done.then(() => undefined);
      question.dispose();
      await left;
    });
    assert.deepEqual(lab.complaints, []);
  },
);
