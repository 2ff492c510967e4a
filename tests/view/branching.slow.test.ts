// What the branching view does in a browser.
import assert from "node:assert/strict";
import { test } from "node:test";
import { branchingView } from "../../src/view/branching/branching-view.js";
import { sampleTree } from "../../src/view/testing/sample-tree.js";
import { browserPath, openPage } from "./browser.js";

const skip = browserPath === undefined && "no Chromium on this machine";

test(
  "branchingView() has a line for every rule; a mark that is clicked tells its numbers",
  { skip },
  async () => {
    const tree = await sampleTree({ seed: 4 });
    const view = branchingView(tree);
    const page = await openPage(view.html());
    try {
      const { rules } = view.payload;
      const count = `document.querySelectorAll(".arpo-mark").length`;
      const wanted = rules.reduce((sum, { points }) => sum + points.length, 0);
      assert.equal(await page.evaluate(count), wanted);

      const at = rules.findIndex(({ name }) => name === "treerl");
      const { points } = rules[at]!;
      const told = String(
        await page.evaluate(`(() => {
        const mark = document.querySelector('[data-rule="${at}"][data-point="1"]');
        mark.dispatchEvent(new MouseEvent("click", { bubbles: true }));
        return document.querySelector(".arpo-point").textContent;
      })()`),
      );
      const [point] = points.slice(1);
      assert.match(
        told,
        new RegExp(`^treerl, round 1: .* of trajectory ${point!.trajectory} after ${point!.at} `),
      );
      assert.ok(told.includes(`score${Number(point!.scores[0]!.toPrecision(4))}`), told);
      assert.ok(told.includes(`order${point!.orders.map((o) => o + 1).join(", ")}`), told);

      // The keyboard goes to the next line, and back along it.
      const keys = (...names: string[]) =>
        page.evaluate(`(() => {
        const svg = document.querySelector("svg");
        for (const key of ${JSON.stringify(names)}) svg.dispatchEvent(new KeyboardEvent("keydown", { key }));
        return document.querySelector(".arpo-point b").textContent;
      })()`);
      assert.equal(await keys("ArrowDown"), rules[at + 1]!.name);
      assert.equal(await keys("ArrowUp"), "treerl");

      const shown = await page.evaluate(`(() => {
        const select = document.querySelector(".arpo-branching select");
        select.value = "0";
        select.dispatchEvent(new Event("change"));
        return document.querySelectorAll(".arpo-mark:not(.arpo-faded)").length;
      })()`);
      const own = rules.flatMap((rule) => rule.points).filter(({ trajectory: row }) => row === 0);
      assert.equal(shown, own.length);
      await page.evaluate(`(() => {
        const select = document.querySelector(".arpo-branching select");
        select.value = "-1";
        select.dispatchEvent(new Event("change"));
      })()`);
      await page.screenshot("branching");
      await page.evaluate(`document.body.style.cssText = "background:#17191c;color:#e6e6e6"`);
      assert.deepEqual(page.errors, []);
    } finally {
      await page.close();
    }
  },
);
