import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { after, before, test } from "node:test";
import { until } from "../until.js";
import { BrowserLab, codeCell, noBrowser as skip, notebookFile, type Tab } from "./browser-lab.js";

const axeSource = readFileSync(
  createRequire(import.meta.url).resolve("axe-core/axe.min.js"),
  "utf8",
);

interface Violation {
  id: string;
  help: string;
  nodes: { html: string }[];
}
interface Axe {
  run(root: unknown, options: unknown): Promise<{ violations: Violation[] }>;
}
declare const axe: Axe;

let lab: BrowserLab;
let tab: Tab;
before(async () => {
  if (skip !== false) return;
  const long = "for (let i = 0; i < 800; i++) console.log(i);";
  const maths = { cell_type: "markdown", id: "m", metadata: {}, source: "$\\frac{a}{b}$" };
  const cells = [
    codeCell("a", "const answer = 42;\nconst other = [1, 2];"),
    maths,
    codeCell("b", long),
  ];
  const lesson = [
    { cell_type: "markdown", id: "m", metadata: {}, source: "# 01 · First\n\n**Now** read." },
  ];
  const names = Array.from({ length: 60 }, (_, i) => `n${i}: 0`).join(", ");
  lab = await BrowserLab.start({
    "hover.ipynb": notebookFile([codeCell("h", `const wide = { ${names} };\nwide.n0`)]),
    "access.ipynb": notebookFile(cells),
    "notebooks/01-first.ipynb": notebookFile(lesson),
  });
  tab = await lab.tab();
});
after(async () => {
  if (skip === false) await lab.stop();
});

// JupyterLab's buttons are web components, whose role axe does not see.
const options = {
  resultTypes: ["violations"],
  rules: { "aria-allowed-attr": { enabled: false } },
};

/** What axe finds in the part of the page that a selector names. */
async function violations(selector: string, without: string[] = []): Promise<string[]> {
  await tab.page.evaluate(axeSource);
  const left = Object.fromEntries(without.map((rule) => [rule, { enabled: false }]));
  const found = await tab.page.evaluate(
    async ([root, given]) => (await axe.run(root, given)).violations,
    [selector, { ...options, rules: { ...options.rules, ...left } }] as const,
  );
  return found.map(({ id, help, nodes }) => `${id}: ${help}: ${nodes[0]?.html ?? ""}`);
}

for (const scheme of ["light", "dark"] as const) {
  test(`what the lab adds passes axe, ${scheme}`, { skip }, async () => {
    await tab.page.emulateMedia({ colorScheme: scheme });
    await tab.open("access.ipynb");
    await tab.page.waitForSelector(`body[data-jp-theme-light="${scheme === "light"}"]`, {
      state: "attached", // it has no size of its own
    });
    await tab.page.waitForSelector("#arpo-lab-values .arpo-Values-empty, .arpo-Values-item");
    assert.deepEqual(await violations("#arpo-lab-values"), [], "empty panel");
    await tab.run(1);
    await tab.page.waitForSelector(".arpo-Values-item");
    await tab.page.waitForSelector("mjx-container"); // mathematics without a network
    await tab.picture(`panel-${scheme}`);
    assert.deepEqual(await violations("#arpo-lab-values"), [], "panel");
    assert.deepEqual(await violations('[data-jp-item-name="stage"]'), [], "stage button");
    await tab.run(3);
    await tab.output(3, "799");
    // What is left is JupyterLab's own: cells are a feed of things that are no articles, rendered ones have
    // a label without a role, and the link to skip to the main area is in no landmark.
    const theirs = ["aria-required-children", "aria-prohibited-attr", "region"];
    assert.deepEqual(await violations("body", theirs), [], "page");
  });
}

test("the values panel is used with the keyboard alone", { skip }, async () => {
  const name = async (): Promise<string | undefined> =>
    await tab.page.evaluate(() =>
      document.activeElement instanceof HTMLElement
        ? document.activeElement.dataset["name"]
        : undefined,
    );
  await tab.command("arpo-lab:show-values");
  await tab.page.focus(".arpo-Values-group");
  assert.equal(await name(), "group Variables");
  await tab.page.keyboard.press("Tab");
  assert.equal(await name(), "answer");
  await tab.page.keyboard.press("Tab");
  assert.equal(await name(), "other");
  await tab.page.keyboard.press("Enter");
  // What was asked for has the focus, so that it is read out.
  await tab.page.waitForFunction(
    () =>
      document.activeElement?.closest(".jp-MainAreaWidget")?.querySelector(".arpo-Value") != null,
  );
});

test("inserting a stage with the keyboard ends in the new cell", { skip }, async () => {
  await tab.page.click(`${tab.cell(1)} .jp-InputPrompt`);
  await tab.page.focus('[data-jp-item-name="stage"] jp-button');
  await tab.page.keyboard.press("Enter");
  await tab.page.waitForSelector(".jp-Dialog select");
  assert.deepEqual(await violations(".jp-Dialog-content"), []);
  await tab.page.selectOption(".jp-Dialog select", { label: "time" });
  const accept = ".jp-Dialog button.jp-mod-accept";
  for (let i = 0; i < 4 && (await tab.page.locator(`${accept}:focus`).count()) === 0; i++) {
    await tab.page.keyboard.press("Tab");
  }
  await tab.page.press(`${accept}:focus`, "Enter");
  await tab.page.waitForSelector(".jp-Dialog", { state: "detached" });
  await tab.page.waitForSelector(`${tab.cell(2)} .cm-editor.cm-focused`);
  await tab.page.keyboard.type("1 + 1");
  assert.match((await tab.page.textContent(`${tab.cell(2)} .cm-content`)) ?? "", /%%time1 \+ 1/);
});

test("a dialog gives the focus back", { skip }, async () => {
  await tab.page.focus('[data-jp-item-name="stage"] jp-button');
  await tab.page.keyboard.press("Enter");
  await tab.page.waitForSelector(".jp-Dialog select");
  await tab.page.keyboard.press("Escape");
  await tab.page.waitForSelector(".jp-Dialog", { state: "detached" });
  const inside = await tab.page.evaluate(
    () =>
      document.activeElement?.closest('.jp-NotebookPanel, [data-jp-item-name="stage"]') !== null,
  );
  assert.ok(inside, "the focus is in the notebook's panel");
});

test("a lesson on the launcher says what it is about", { skip }, async () => {
  await tab.command("launcher:create");
  const card = tab.page.locator(".jp-LauncherCard", { hasText: "01 · First" });
  await card.waitFor();
  assert.equal(await card.getAttribute("title"), "Now read.");
  await card.focus();
  await tab.page.keyboard.press("Enter");
  await tab.page.waitForSelector('.lm-TabBar-tabLabel:text("01-first.ipynb")');
});

test("a hover that is too long for its box scrolls by keyboard", { skip }, async () => {
  await tab.open("hover.ipynb");
  await tab.run(1);
  await tab.output(1, "0");
  await tab.page
    .locator(`${tab.cell(1)} .cm-content`)
    .getByText("wide", { exact: true })
    .first()
    .hover();
  const box = tab.page.locator(".arpo-Hover");
  await box.waitFor();
  assert.ok(await box.evaluate((node) => node.scrollHeight > node.clientHeight), "it is too long");
  assert.deepEqual(await violations(".arpo-Hover"), []);
  await box.focus();
  await tab.page.keyboard.press("End");
  await until(() => box.evaluate((node) => node.scrollTop > 0), "the hover scrolls");
});
