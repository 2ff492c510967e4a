// What the explorer and the token view do in a browser.
import assert from "node:assert/strict";
import { test } from "node:test";
import { evaluate } from "../../src/eval/evaluate.js";
import type { TrainingRun } from "../../src/run/trainer/training-run.js";
import { ScriptedPolicy } from "../../src/rollout/testing/scripted-policy.js";
import { board } from "../../src/view/board/board.js";
import { clipComparison } from "../../src/view/tokens/clip-comparison.js";
import { explain } from "../../src/view/explain/explain.js";
import { explore } from "../../src/view/explorer/explore.js";
import { reportPage } from "../../src/view/evaluation/report-page.js";
import { numberText } from "../../src/view/page/words.js";
import { makePayload } from "../../src/view/explorer/make-payload.js";
import { sampleTree } from "../../src/view/testing/sample-tree.js";
import { grpoBatch } from "../../src/view/testing/sample-batch.js";
import { sampleReport } from "../../src/view/testing/sample-report.js";
import { browserPath, openPage } from "./browser.js";

const skip = browserPath === undefined && "no Chromium on this machine";

test("clipComparison() strikes out what clipping dropped, on either side", { skip }, async () => {
  const { batch } = await sampleReport();
  // Eight trajectories, which is what a view shows: it puts those first in which the two differ.
  const eight: typeof batch = {
    ...batch,
    tokens: batch.tokens,
    age: batch.age,
    trajectories: batch.trajectories.slice(0, 8),
  };
  const view = clipComparison(eight);
  const page = await openPage(view.html());
  try {
    const dropped = (await page.evaluate(`[0, 1].map((side) =>
      [...document.querySelectorAll(".arpo-columns")].reduce((sum, row) =>
        sum + row.children[side].querySelectorAll(".arpo-lost").length, 0))`)) as number[];
    const ppo = eight.trajectories.flatMap(({ trajectory, advantages, ...row }) =>
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
      const opened = new Promise((done) => first.addEventListener("toggle", done, { once: true }));
      first.open = true;
      await opened;
      const choice = document.querySelector("select[data-choice]");
      choice.value = "wrong";
      choice.dispatchEvent(new Event("change"));
      return [
        first.querySelectorAll(".ax-scroll canvas").length,
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

test(
  "explore() says that it needs a kernel, and shows the tree that one gives it",
  { skip },
  async () => {
    const { tree } = await grpoBatch();
    const live = `<script type="application/json" data-live>{"key":"k","target":"arpo-lab.tree"}</script>`;
    const html = explore(tree).html();
    const answer = JSON.stringify({
      name: "forks[0]",
      tree: makePayload(await sampleTree({ n: 2, initialRollouts: 1 })),
    });
    const page = await openPage(html.replace("<script", `${live}<script`));
    // The first segment is selected, and a token of it by the Enter key.
    const press = (key: string) =>
      `document.querySelector(".ax-scroll").dispatchEvent(new KeyboardEvent("keydown", { key: "${key}", cancelable: true }))`;
    const click = `document.querySelector("[data-action=fork]").click()`;
    const told = `document.querySelector(".ax-actions output").textContent`;
    try {
      await page.evaluate(press("ArrowRight"));
      await page.evaluate(press("Enter"));
      await page.evaluate(click);
      assert.match(
        String(await page.evaluate(told)),
        /^This page cannot ask a kernel: .*await tree\.fork\(0, \{ .*n: 4 \}\)$/,
      );
      await page.evaluate(`document.addEventListener("arpo-lab:connect", (event) => {
      event.preventDefault();
      const channel = { send: (data) => {
        window.asked = data;
        setTimeout(() => {
          channel.onMessage(window.refuse ? { error: "no" } : ${answer});
          window.answered();
        });
      } };
      event.detail.connected(channel);
    })`);
      // Resolves once the page has read the answer.
      const answered = `new Promise((done) => (window.answered = done))`;
      await page.evaluate(`window.refuse = true; ${click}; ${answered}`);
      assert.equal(await page.evaluate(told), "no");
      await page.evaluate(`window.refuse = false; ${click}; ${answered}`);
      assert.deepEqual(await page.evaluate("window.asked"), {
        tree: "k",
        node: 0,
        at: 0,
        trajectories: 4,
      });
      const titles = `[...document.querySelectorAll(".arpo-title")].map((b) => b.textContent)`;
      const [before, forked] = (await page.evaluate(titles)) as string[];
      assert.match(before!, /^q.* 12 traj/);
      assert.match(forked!, /^q.* 2 traj/);
      assert.match(
        String(await page.evaluate(`document.querySelector(".arpo-fork").textContent`)),
        /forks\[0\]/,
      );
      await page.evaluate(`document.querySelector(".arpo-fork button").click()`);
      assert.equal(((await page.evaluate(titles)) as string[]).length, 1);
      assert.deepEqual(page.errors, []);
    } finally {
      await page.close();
    }
  },
);

test(
  "explain() writes the library's numbers under the symbols, for every algorithm",
  { skip },
  async () => {
    const report = await sampleReport();
    // Probabilities must be some: DPPO looks at them.
    for (const row of report.batch.trajectories) {
      row.newLogprobs = row.newLogprobs!.map((x) => Math.min(x, -0.01));
    }
    const explanation = explain(report);
    const page = await openPage(explanation.html());
    const show = (x: number) => numberText(x, 4);
    try {
      const seen = new Set<string>();
      for (const name of explanation.algorithms) {
        await page.evaluate(`document.querySelector('[data-algorithm="${name}"]').click()`);
        // The third token that was trained, of the row that is shown.
        const token = Number(
          await page.evaluate(`(() => {
        const spans = document.querySelectorAll(".arpo-text span:not(.arpo-untrained)");
        spans[2].click();
        return Number(spans[2].dataset.token);
      })()`),
        );
        const row = explanation.payload.rows.findIndex(
          ({ start, length }) => token >= start && token < start + length,
        );
        const place = explanation.payload.rows[row]!;
        const terms = explanation.token(row, token - place.start, name);
        const part = terms.share * terms.loss;
        const known = { ...place, ...terms, part } as unknown as Record<string, number>;
        const written =
          (await page.evaluate(`[...document.querySelectorAll(".arpo-formulas [data-value]")]
          .map((place) => [place.dataset.value, place.textContent])`)) as [string, string][];
        for (const [symbol, text] of written) {
          if (symbol === "sharing") continue;
          assert.notEqual(text, "–", `${name}: ${symbol} has no value`);
          assert.equal(text, show(known[symbol]!), `${name}: ${symbol}`);
        }
        const symbols = new Set(written.map(([symbol]) => symbol));
        for (const symbol of ["loss", "weight", "slope", "part"]) {
          assert.ok(symbols.has(symbol), `${name}: ${symbol}`);
        }
        const words = String(
          await page.evaluate(`document.querySelector(".arpo-verdict").textContent`),
        );
        assert.doesNotMatch(words, /NaN|undefined/, name);
        seen.add(
          String(await page.evaluate(`document.querySelector(".arpo-formulas").textContent`)),
        );
      }
      assert.ok(seen.size >= 20, `algorithms must differ in what they show, ${seen.size} do`);
      const code = String(await page.evaluate(`document.querySelector(".arpo-code").textContent`));
      assert.match(code, /^src\/learn\/\S+\.ts:\d+/);
      assert.deepEqual(page.errors, []);
    } finally {
      await page.close();
    }
  },
);

test("board() draws its curves, smooths them, hides runs and opens steps", { skip }, async () => {
  const lines = (rise: number) =>
    Array.from({ length: 20 }, (_, i) => ({
      step: i + 1,
      "critic/score/mean": rise * i + (i % 3),
    }));
  const page = await openPage(
    (await board({ a: [lines(1), lines(2)], b: lines(3) }).bundle())["text/html"]!,
  );
  const paths = () => page.evaluate(`document.querySelector(".arpo-curve").innerHTML`);
  const set = (selector: string, value: string) =>
    page.evaluate(`(() => {
      const input = document.querySelector("${selector}");
      input.value = "${value}";
      input.dispatchEvent(new Event("input"));
    })()`);
  try {
    const before = await paths();
    await set("[data-smooth]", "0.9");
    const smooth = await paths();
    assert.notEqual(smooth, before);
    await set("[data-smooth]", "0");
    assert.equal(await paths(), before);
    await page.evaluate(`document.querySelector("input[type=checkbox]").click()`);
    const alone = String(await paths());
    assert.ok(alone.length < String(before).length);
    const facts = String(await page.evaluate(`document.querySelector(".arpo-facts").textContent`));
    assert.match(facts, /^step 20.*b58/);
    assert.doesNotMatch(alone, /NaN/);
    assert.deepEqual(page.errors, []);
  } finally {
    await page.close();
  }
});

test(
  "board() opens the rollouts of a step, and arrow keys walk over a tree",
  { skip },
  async () => {
    const { tree, scored, batch } = await grpoBatch();
    const done = [1, 2, 3].map((step) => ({
      ...{ step, metrics: { "critic/score/mean": step }, trees: [tree], scored, batch, timing: {} },
    }));
    const run = {
      trainer: { totalSteps: 3 },
      steps: done,
      validation: [],
    } as unknown as TrainingRun;
    const page = await openPage((await board(run).bundle())["text/html"]!);
    const read = (what: string) => page.evaluate(`document.querySelector("${what}").textContent`);
    try {
      assert.equal(await read(".arpo-board fieldset output"), "step 3 of 3");
      await page.evaluate(`document.querySelector("[aria-label='earlier step']").click()`);
      assert.equal(await read(".arpo-board fieldset output"), "step 2 of 3");
      assert.match(String(await read(".arpo-head .arpo-now")), /2/);
      const press = (key: string) =>
        page.evaluate(`document.querySelector(".ax-scroll").dispatchEvent(
        new KeyboardEvent("keydown", { key: "${key}", cancelable: true, bubbles: true }))`);
      const at = async () => String(await read(".ax-head-line b"));
      await press("Home");
      assert.equal(await at(), "Trajectory 0");
      assert.equal(await press("ArrowDown"), false, "the key must be taken from the page");
      const below = tree.trajectories.findLastIndex(({ parent }) => parent === 0);
      assert.equal(await at(), `Trajectory ${below < 0 ? 1 : below}`);
      await press("ArrowUp");
      assert.equal(await at(), "Trajectory 0");
      assert.equal(await press("x"), true, "other keys stay the page's");
      assert.deepEqual(page.errors, []);
    } finally {
      await page.close();
    }
  },
);
