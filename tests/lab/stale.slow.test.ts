import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { BrowserLab, codeCell, noBrowser as skip, notebookFile, type Tab } from "./browser-lab.js";

let lab: BrowserLab;
let tab: Tab;
before(async () => {
  if (skip !== false) return;
  const cells = [
    codeCell("a", "let width = 3;\nlet other = 0;"),
    codeCell("b", "const area = width * 2;\narea"),
    codeCell("c", "area + 100"),
    codeCell("d", "other = width;\nother"),
    codeCell("e", "width = other;\nwidth"),
    codeCell("f", "'apart'"),
  ];
  const long = [codeCell("a", "let n = 1;"), codeCell("b", "n"), codeCell("c", "n + 1")];
  lab = await BrowserLab.start({
    "stale.ipynb": notebookFile(cells.filter(({ id }) => id !== "e")),
    "loop.ipynb": notebookFile(cells),
    "long.ipynb": notebookFile(long),
  });
  tab = await lab.tab();
});
after(async () => {
  if (skip === false) await lab.stop();
});

const mark = (n: number) => tab.page.locator(`${tab.cell(n)} .arpo-Stale`);
const marked = async (n: number, text: RegExp): Promise<void> =>
  await mark(n).filter({ hasText: text }).waitFor();
const fresh = async (...cells: number[]): Promise<void> => {
  for (const n of cells) await mark(n).waitFor({ state: "detached" });
};
/** Runs cells with the keyboard alone, from the first. */
async function runFirst(count: number): Promise<void> {
  await tab.page.click(`${tab.cell(1)} .cm-content`);
  for (let i = 0; i < count; i++) await tab.page.keyboard.press("Shift+Enter");
  await tab.idle();
}
const told = (text: RegExp) => tab.page.locator(".Toastify__toast", { hasText: text });

test(
  "what an edit makes stale is marked, with the reason, and runs in order by a key",
  { skip },
  async () => {
    await tab.open("stale.ipynb");
    await runFirst(5);
    await tab.output(3, "106");
    await tab.output(5, "apart");
    await fresh(1, 2, 3, 4, 5);
    await tab.edit(1, "let width = 5;\nlet other = 0;");
    await marked(1, /^edited: the text differs from what ran$/);
    await marked(2, /^stale: the cell that declared width is edited$/);
    await marked(3, /^stale: the cell that declared area is stale$/);
    assert.equal(await mark(5).count(), 0);
    await tab.output(3, "106"); // nothing has run by itself
    await tab.picture("stale-light");
    await tab.page.emulateMedia({ colorScheme: "dark" });
    await tab.page.waitForSelector('body[data-jp-theme-light="false"]', { state: "attached" });
    await tab.page.waitForSelector("#jupyterlab-splash", { state: "detached" });
    await tab.picture("stale-dark");
    await tab.page.emulateMedia({ colorScheme: "light" });
    await tab.page.keyboard.press("Alt+r");
    await tab.output(3, "110");
    await tab.output(4, "5");
    await fresh(1, 2, 3, 4);
  },
);

test(
  "a cell that ran anew marks its readers, and they run by a key or a button",
  { skip },
  async () => {
    await tab.edit(1, "let width = 6;\nlet other = 0;");
    await tab.page.keyboard.press("Control+Enter");
    await marked(2, /^stale: width was declared or assigned again since$/);
    await tab.page.keyboard.press("Alt+Shift+r");
    await tab.output(3, "112");
    await fresh(1, 2, 3, 4);
    await tab.edit(1, "let width = 7;\nlet other = 0;");
    await marked(3, /^stale/);
    const button = tab.page.locator(
      '.jp-NotebookPanel:not(.lm-mod-hidden) [data-command="arpo-lab:run-stale"]',
    );
    await button.focus();
    await tab.page.keyboard.press("Enter");
    await tab.output(3, "114");
    await fresh(1, 2, 3, 4);
  },
);

test("a name that a deleted cell declared is warned of where it is read", { skip }, async () => {
  await tab.page.click(`${tab.cell(1)} .jp-InputPrompt`);
  await tab.page.keyboard.press("d");
  await tab.page.keyboard.press("d");
  const warning = tab.page.locator(`${tab.cell(1)} .arpo-Stale-warning`);
  await warning.filter({ hasText: /^Reads width: the cell that declared it is deleted/ }).waitFor();
  await tab.page.setViewportSize({ width: 390, height: 844 });
  await tab.command("application:toggle-left-area");
  await tab.command("application:toggle-right-area");
  await tab.picture("stale-phone");
  await tab.command("application:toggle-left-area");
  await tab.page.setViewportSize({ width: 1280, height: 900 });
  await tab.picture("stale-gone");
});

test("a loop runs once and says so", { skip }, async () => {
  tab = await lab.tab();
  await tab.open("loop.ipynb");
  await runFirst(6);
  await tab.output(6, "apart");
  await tab.edit(1, "let width = 8;\nlet other = 0;");
  await marked(4, /^stale/);
  await tab.page.keyboard.press("Alt+r");
  await told(/Cells 4, 5 of the notebook change what the others read: they form a loop/).waitFor();
  await tab.output(5, "8");
  await tab.picture("stale-loop");
});

test(
  "dependents run by themselves only where that is chosen; loops do not, and long cells ask",
  { skip },
  async () => {
    tab = await lab.tab();
    await tab.open("long.ipynb");
    await runFirst(3);
    await tab.output(3, "2");
    await tab.command("arpo-lab:run-dependents-by-itself");
    await tab.edit(1, "let n = 10;");
    await tab.page.keyboard.press("Control+Enter");
    await tab.output(3, "11");
    await tab.edit(3, "%%train steps=1\nn");
    await tab.edit(1, "let n = 20;");
    await tab.page.keyboard.press("Control+Enter");
    const dialog = tab.page.locator(".jp-Dialog", { hasText: "Run cells that take long?" });
    await dialog.waitFor();
    await tab.picture("stale-ask");
    await tab.page.keyboard.press("Enter");
    await dialog.waitFor({ state: "detached" });
    await marked(2, /^stale/);
    await tab.output(3, "11");
  },
);
