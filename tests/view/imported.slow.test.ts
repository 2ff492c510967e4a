// What the page of imported rollouts does in a browser.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { test } from "node:test";
import { importRollouts } from "../../src/formats/import-rollouts.js";
import { readRollouts } from "../../src/formats/read-rollouts.js";
import { showImported } from "../../src/view/imported/imported-view.js";
import { browserPath, openPage, type Page } from "./browser.js";

const skip = browserPath === undefined && "LEFT OUT: no Chromium on this machine";
const axeSource = readFileSync(
  createRequire(import.meta.url).resolve("axe-core/axe.min.js"),
  "utf8",
);

/** What axe finds in the whole page; the page around it is the test's. */
async function violations(page: Page): Promise<string[]> {
  await page.evaluate(axeSource);
  const options = `{ resultTypes: ["violations"], rules: { region: { enabled: false }, "document-title": { enabled: false }, "html-has-lang": { enabled: false }, "landmark-one-main": { enabled: false }, "page-has-heading-one": { enabled: false } } }`;
  const found = await page.evaluate(
    `axe.run(document, ${options}).then(({ violations }) => violations.map(({ id, help, nodes }) => id + ": " + help + ": " + nodes[0].html.slice(0, 300)))`,
  );
  return found as string[];
}

const heads = `[...document.querySelectorAll("details[data-prompt]:not([hidden])")].map((box) => Number(box.dataset.prompt))`;
const set = (name: string, value: string) =>
  `(() => { const control = document.querySelector("[data-choose=${name}]"); control.value = ${JSON.stringify(value)}; control.dispatchEvent(new Event("input")); return ${heads}; })()`;

test(
  "the page of an import chooses and orders prompts, and opens their trees",
  { skip },
  async () => {
    const imported = await importRollouts("tests/fixtures/rollouts/verl");
    const page = await openPage(showImported(imported).html());
    try {
      assert.deepEqual(await page.evaluate(heads), [0, 1, 2, 3, 4, 5]);
      assert.deepEqual(await page.evaluate(set("step", "2")), [2, 3]);
      assert.deepEqual(await page.evaluate(set("step", "")), [0, 1, 2, 3, 4, 5]);
      assert.deepEqual(await page.evaluate(set("words", "6*7")), [1, 3, 5]);
      assert.deepEqual(await page.evaluate(set("words", "")), [0, 1, 2, 3, 4, 5]);
      assert.deepEqual(await page.evaluate(set("order", "high")), [1, 3, 5, 0, 2, 4]);
      assert.equal(
        await page.evaluate(
          `[document.querySelector("details[open]").dataset.prompt, document.querySelectorAll("details:not([open]) canvas").length].join()`,
        ),
        "0,0",
        "the first prompt alone is open",
      );
      const title = await page.evaluate(`new Promise((done) => {
      const box = document.querySelector("details[data-prompt='2']");
      box.addEventListener("toggle", () => setTimeout(() => done(box.querySelector(".arpo-explorer .arpo-title").textContent)));
      box.querySelector("summary").click();
    })`);
      assert.match(String(title), /3 trajectories · 6 segments · 66 tokens/);
      // Without entropies the tree begins with the colour of rewards, and asks nothing about branches.
      const chosen = `document.querySelector("[data-prompts] .arpo-explorer [data-view=quantity]").value`;
      assert.equal(await page.evaluate(chosen), "reward");
      assert.equal(
        await page.evaluate(
          `[...document.querySelectorAll("[data-prompts] [role=tab]")].some((tab) => /What if/.test(tab.textContent))`,
        ),
        false,
      );
      assert.deepEqual(page.errors, []);
    } finally {
      await page.close();
    }
  },
);

test(
  "findings lead to their trajectories, and trajectories are searched and pinned",
  { skip },
  async () => {
    const imported = await importRollouts("tests/fixtures/rollouts/verl");
    const page = await openPage(showImported(imported).html());
    try {
      const found = await page.evaluate(`(() => {
      const links = [...document.querySelectorAll("a[data-place]")];
      const link = links.find((each) => each.dataset.place.startsWith("4 1 "));
      link.click();
      const box = document.querySelector("details[data-prompt='4']");
      return [box.open, box.querySelector(".ax-body").textContent];
    })()`);
      const [isOpen, told] = found as [boolean, string];
      assert.equal(isOpen, true);
      assert.match(told, /^Trajectory 1/);
      const counted = `document.querySelector("output[data-count]").value`;
      assert.deepEqual(await page.evaluate(set("words", "/Cuz[cx]o\\./")), [0, 2, 4]);
      assert.equal(await page.evaluate(counted), "3 of 6 prompts, 3 trajectories");
      assert.deepEqual(await page.evaluate(set("least", "1")), [], "what says Cuzco scores 0");
      assert.deepEqual(await page.evaluate(set("words", "")), [0, 1, 2, 3, 4, 5]);
      assert.equal(await page.evaluate(counted), "6 of 6 prompts, 9 trajectories");
      await page.evaluate(set("words", "/(/"));
      assert.equal(await page.evaluate(counted), "not a regular expression");
      await page.evaluate(set("least", ""));
      await page.evaluate(set("words", ""));
      await page.evaluate(`document.querySelector("details[data-prompt='3'] [data-pin]").click()`);
      assert.deepEqual(await page.evaluate(heads), [3, 0, 1, 2, 4, 5]);
      assert.deepEqual(page.errors, []);
    } finally {
      await page.close();
    }
  },
);

test("the page of an import passes axe and is used by keyboard alone", { skip }, async () => {
  const imported = await importRollouts("tests/fixtures/rollouts/verl");
  const page = await openPage(showImported(imported).html());
  try {
    assert.deepEqual(await violations(page), []);
    const opened = await page.evaluate(`new Promise((done) => {
      const box = document.querySelector("details[data-prompt='2']");
      box.addEventListener("toggle", () => setTimeout(() => done(box.querySelectorAll("canvas").length)));
      box.querySelector("summary").focus();
      document.activeElement.click(); // what Enter and Space do to a summary
    })`);
    assert.ok(Number(opened) > 0);
    const node = await page.evaluate(`(() => {
      const tree = document.querySelector("[data-prompts] .ax-scroll");
      tree.focus();
      for (const key of ["ArrowRight", "ArrowRight", "ArrowRight"]) tree.dispatchEvent(new KeyboardEvent("keydown", { key }));
      return document.activeElement === tree && document.querySelector("[data-prompts] .ax-body").textContent;
    })()`);
    assert.match(String(node), /^Trajectory 0turn 1 of \d.*Tool result.*21 tokens/s);
    assert.deepEqual(await violations(page), []);
  } finally {
    await page.close();
  }
});

test("hostile rollouts run nothing in the page", { skip }, async () => {
  const evil = `</script><script>window.ran=1</script><img src=x onerror="window.ran=2"><!--`;
  const rows = [1, 2].map((step) => ({
    input: evil,
    output: `${evil}${step}`,
    score: step,
    step,
    [evil]: 1,
    reason: evil,
  }));
  const page = await openPage(showImported(readRollouts(rows, { name: evil })).html());
  try {
    await page.evaluate(
      `(() => { for (const box of document.querySelectorAll("details")) box.open = true; })()`,
    );
    const text = await page.evaluate(
      `new Promise((done) => setTimeout(() => done(document.body.innerText)))`,
    );
    assert.match(String(text), /<\/script><script>window\.ran=1/);
    assert.equal(await page.evaluate("window.ran"), undefined);
    assert.deepEqual(page.errors, []);
  } finally {
    await page.close();
  }
});
