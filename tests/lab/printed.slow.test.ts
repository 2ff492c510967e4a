import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { BrowserLab, codeCell, noBrowser as skip, notebookFile, type Tab } from "./browser-lab.js";

const sources = {
  // slow: a program that prints little by little
  many: `for (let i = 0; i < 3000; i++) console.log("line " + i);
const slowly = async (n: number) => { for (let i = 0; i < n; i++) { console.log("later " + i); await new Promise((r) => setTimeout(r, 20)); } };`,
  // slow: one that computes before it prints more
  more: `console.log("x\\n".repeat(700)); await new Promise((r) => setTimeout(r, 1500)); await slowly(50)`,
  colours: `process.stdout.write("\\x1b[31mred "); console.log("and\\n".repeat(150) + "still red \\x1b[1mbold\\x1b[0m plain www.example.org end");`,
  // slow: one that shows its progress
  back: `console.log("kept");
for (let i = 0; i <= 100; i += 10) { process.stdout.write("\\rprogress " + i + "%"); await new Promise((r) => setTimeout(r, 30)); }
process.stdout.write("\\b\\b");`,
  wide: `console.log("😀".repeat(100_000))`,
  both: `console.log("out"); console.error("err"); console.log("out again")`,
};
type Name = keyof typeof sources;
const names = Object.keys(sources) as Name[];
const number = (name: Name): number => names.indexOf(name) + 1;

let lab: BrowserLab;
let tab: Tab;
before(async () => {
  if (skip !== false) return;
  const cells = names.map((name) => codeCell(name, sources[name]));
  lab = await BrowserLab.start({ "print.ipynb": notebookFile(cells) });
  tab = await lab.tab();
  await tab.open("print.ipynb");
});
after(async () => {
  if (skip === false) await lab.stop();
});

const ended = async (name: Name): Promise<void> => {
  await tab.page.waitForFunction(
    (n) =>
      /\[\d+\]/.test(
        document.querySelector(`.jp-Notebook .jp-Cell:nth-child(${n}) .jp-InputPrompt`)
          ?.textContent ?? "",
      ),
    number(name),
  );
};
const printed = async (name: Name, text: string): Promise<void> =>
  void (await tab.page.waitForFunction(
    ([selector, expected]) => document.querySelector(selector)?.textContent === expected,
    [`${tab.cell(number(name))} .arpo-Printed`, text] as const,
  ));
const stored = (name: Name): string => {
  const file = JSON.parse(readFileSync(join(lab.folder, "print.ipynb"), "utf8")) as {
    cells: { id: string; outputs: { text?: string[] }[] }[];
  };
  const { outputs } = file.cells.find(({ id }) => id === name)!;
  return outputs.map(({ text = [] }) => text.join("")).join("");
};
const lines = (word: string, n: number): string =>
  Array.from({ length: n }, (_, i) => `${word} ${i}\n`).join("");

test("a long text is shown, copied and saved whole", { skip }, async () => {
  await tab.run(number("many"));
  await printed("many", lines("line", 3000));
  const area = tab.page.locator(`${tab.cell(1)} .arpo-Printed`);
  const copied = await area.evaluate((node) => {
    getSelection()!.selectAllChildren(node);
    const text = getSelection()!.toString();
    getSelection()!.removeAllRanges();
    return text;
  });
  assert.equal(copied.trimEnd(), lines("line", 3000).trimEnd());
  await tab.save();
  assert.equal(stored("many"), lines("line", 3000));
  await tab.picture("printed");
});

test("a long text scrolls by itself and is reached with the keyboard", { skip }, async () => {
  const area = tab.page.locator(`${tab.cell(1)} .arpo-Printed`);
  const { height, inner } = await area.evaluate((node) => ({
    height: node.clientHeight,
    inner: node.scrollHeight,
  }));
  assert.ok(height < 700 && inner > 10 * height, `${height} of ${inner}`);
  assert.equal(await area.getAttribute("tabindex"), "0");
  await area.focus();
  await tab.page.keyboard.press("Home");
  await tab.page.waitForFunction(
    (selector) => document.querySelector(selector)!.scrollTop === 0,
    `${tab.cell(1)} .arpo-Printed`,
  );
});

test(
  "what is added is drawn alone, and followed until the reader goes back",
  { skip },
  async () => {
    await tab.run(number("more"));
    const selector = `${tab.cell(number("more"))} .arpo-Printed`;
    await tab.page.waitForFunction(
      (s) => document.querySelectorAll(`${s} .arpo-Printed-block`).length >= 8,
      selector,
    );
    await tab.page.evaluate((s) => {
      Object.assign(window, { first_: document.querySelector(`${s} pre`) });
    }, selector);
    await tab.page.waitForFunction(
      (s) => document.querySelector(s)!.textContent.includes("later 10\n"),
      selector,
    );
    const isAtEnd = (): Promise<boolean> =>
      tab.page.evaluate((s) => {
        const node = document.querySelector(s)!;
        return node.scrollTop + node.clientHeight >= node.scrollHeight - 4;
      }, selector);
    await tab.page.waitForTimeout(200); // a frame or two
    assert.ok(await isAtEnd(), "the end is in view");
    await tab.page.evaluate((s) => (document.querySelector(s)!.scrollTop = 0), selector);
    await ended("more");
    await printed("more", `${"x\n".repeat(700)}\n${lines("later", 50)}`);
    assert.ok(!(await isAtEnd()), "the reader stays where they went");
    const isSame = await tab.page.evaluate(
      (s) =>
        (window as unknown as { first_: Element }).first_ === document.querySelector(`${s} pre`),
      selector,
    );
    assert.ok(isSame, "the first block was not drawn again");
  },
);

test("colours go on in the next block, and addresses are links", { skip }, async () => {
  await tab.run(number("colours"));
  const text = `red ${"and\n".repeat(150)}still red bold plain www.example.org end\n`;
  await printed("colours", text);
  const cell = tab.cell(number("colours"));
  const red = await tab.page.$$eval(`${cell} .ansi-red-fg`, (all) =>
    all.map((node) => node.textContent).join(""),
  );
  assert.ok(red.startsWith("red and\n") && red.endsWith("still red "), red.slice(-40));
  assert.equal(await tab.page.textContent(`${cell} .ansi-bold`), "bold");
  assert.equal(await tab.page.textContent(`${cell} .arpo-Printed a`), "www.example.org");
});

test("what goes back in its line replaces it", { skip }, async () => {
  await tab.run(number("back"));
  await printed("back", "kept\nprogress 100%".slice(0, -2));
  await tab.save();
  assert.equal(stored("back"), "kept\nprogress 10");
});

test("a line without an end is shown whole", { skip }, async () => {
  await tab.run(number("wide"));
  await printed("wide", `${"😀".repeat(100_000)}\n`);
});

test("stdout and stderr stay in order", { skip }, async () => {
  await tab.run(number("both"));
  await ended("both");
  await tab.output(number("both"), "out again");
  const mimes = await tab.page.$$eval(`${tab.cell(number("both"))} .arpo-Printed`, (all) =>
    all.map((node) => `${(node as HTMLElement).dataset["mimeType"]}: ${node.textContent.trim()}`),
  );
  const mime = "application/vnd.jupyter.std";
  assert.deepEqual(mimes, [`${mime}out: out`, `${mime}err: err`, `${mime}out: out again`]);
});

test("a saved text is drawn from its beginning", { skip }, async () => {
  await tab.save();
  await tab.page.reload();
  await printed("many", lines("line", 3000));
  const top = await tab.page.$eval(`${tab.cell(1)} .arpo-Printed`, (node) => node.scrollTop);
  assert.equal(top, 0);
});
