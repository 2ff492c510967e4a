// What the explorer and the token view do in a browser.
import assert from "node:assert/strict";
import { test } from "node:test";
import { evaluate } from "../../src/eval/index.js";
import { ScriptedPolicy } from "../../src/rollout/testing/index.js";
import { clipComparison, explore, reportPage } from "../../src/view/index.js";
import { grpoBatch } from "../../src/view/testing/sample-batch.js";
import { sampleReport } from "../../src/view/testing/sample-report.js";
import { browserPath, openPage } from "./browser.js";

const skip = browserPath === undefined && "no Chromium on this machine";

test(
  "explore() shows a tree, and its sliders count what tree.replay() counts",
  { skip },
  async () => {
    const { tree, scored, batch } = await grpoBatch();
    const page = await openPage(explore(tree, { scored, batch }).html());
    try {
      const counts = new Set<number>();
      for (const probability of [0.05, 0.3, 0.9]) {
        const told = await page.evaluate(`(() => {
        const slider = document.querySelector("[data-change=probability]");
        slider.value = "${probability}";
        slider.dispatchEvent(new Event("input"));
        return document.querySelector(".arpo-count").dataset.branches;
      })()`);
        const { branches } = tree.replay({ probability });
        assert.equal(Number(told), branches);
        counts.add(branches);
      }
      assert.ok(counts.size > 1);

      // A click on the middle of row 3 selects its node there.
      const drawn = `new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))`;
      await page.evaluate(drawn);
      const first = tree.nodes.find((node) => node.row === 3)!;
      const click = (x: number, row: number) => `(() => {
      const canvas = document.querySelector("canvas");
      const box = canvas.getBoundingClientRect();
      const at = { clientX: box.left + ${x}, clientY: box.top + ${row * 20 + 10} };
      canvas.dispatchEvent(new MouseEvent("click", at));
      return document.querySelector(".arpo-details").textContent;
    })()`;
      assert.match(
        String(await page.evaluate(click(12, 3))),
        new RegExp(`^node ${first.id}: the model`),
      );

      // The keyboard goes to the next node; its tokens tell their numbers.
      const text = await page.evaluate(`(() => {
      const canvas = document.querySelector("canvas");
      canvas.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowRight" }));
      const tokens = document.querySelector(".arpo-details .arpo-text");
      tokens.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowRight" }));
      return document.querySelector(".arpo-details").textContent;
    })()`);
      const next = tree.nodes.find((node) => node.parent === first.id && node.row === 3)!;
      assert.match(String(text), new RegExp(`^node ${next.id}: a tool answered .*entropy`, "s"));

      const part = await page.evaluate(`(() => {
      const choose = (label, value) => {
        const labels = [...document.querySelectorAll(".arpo-bar label")];
        const select = labels.find((l) => l.textContent.startsWith(label)).querySelector("select");
        select.value = value;
        select.dispatchEvent(new Event("change"));
      };
      for (const colour of ["probability", "reward", "advantage"]) choose("colour", colour);
      choose("along", "time");
      choose("follow", "3");
      choose("compare", "0");
      return document.querySelector(".arpo-trail").textContent;
    })()`);
      const [a, b] = [tree.trajectories[3]!.tokens, tree.trajectories[0]!.tokens];
      const same = a.findIndex((token, i) => token !== b[i]);
      assert.match(String(part), new RegExp(`^Rows 3 and 0 share ${same} tokens`));
      await page.evaluate(drawn);
      assert.deepEqual(page.errors, []);
    } finally {
      await page.close();
    }
  },
);

test("clipComparison() strikes out what clipping dropped, on either side", { skip }, async () => {
  const { batch } = await sampleReport();
  const view = clipComparison(batch);
  const page = await openPage(view.html());
  try {
    const rows = 8;
    const dropped = (await page.evaluate(`[0, 1].map((side) =>
      [...document.querySelectorAll(".arpo-columns")].reduce((sum, row) =>
        sum + row.children[side].querySelectorAll(".arpo-lost").length, 0))`)) as number[];
    const ppo = batch.rows.slice(0, rows).flatMap(({ trajectory, advantages, ...row }) =>
      Array.from(trajectory.lossMask, (trained, t) => {
        const ratio = Math.exp(row.newLogprobs![t]! - row.oldLogprobs![t]!);
        const above = advantages[t]! > 0 && ratio > 1.2;
        const below = advantages[t]! < 0 && (ratio < 0.8 || ratio > 3);
        return { above: Number(trained && above), below: Number(trained && below) };
      }),
    );
    const above = ppo.reduce((sum, token) => sum + token.above, 0);
    const below = ppo.reduce((sum, token) => sum + token.below, 0);
    assert.deepEqual(dropped, [above + below, below]);
    assert.deepEqual(page.errors, []);
  } finally {
    await page.close();
  }
});

test(
  "reportPage() opens a question down to its tokens, and chooses questions",
  { skip },
  async () => {
    const policy = new ScriptedPolicy(({ text }) => ({
      text: `<answer>\\boxed{${text.includes("40 + 80") ? "520" : "1"}}</answer>`,
    }));
    const evaluation = await evaluate(policy, "aime24-lookalike", { samples: 2 });
    const page = await openPage(reportPage(evaluation));
    try {
      const told = await page.evaluate(`(async () => {
      const first = document.querySelector("details[data-question]");
      first.open = true;
      await new Promise((done) => setTimeout(done, 200));
      const choice = document.querySelector("select[data-choice]");
      choice.value = "wrong";
      choice.dispatchEvent(new Event("change"));
      return [
        first.querySelectorAll("canvas").length,
        first.hidden,
        document.querySelector("output[data-count]").value,
      ];
    })()`);
      assert.deepEqual(told, [1, true, "11 of 12 questions"]);
    } finally {
      await page.close();
    }
  },
);
