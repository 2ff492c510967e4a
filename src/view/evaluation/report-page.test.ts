import assert from "node:assert/strict";
import { test } from "node:test";
import { evaluate } from "../../eval/evaluate.js";
import type { LoadedBenchmark } from "../../eval/benchmarks/benchmark.js";
import { ScriptedPolicy } from "../../rollout/testing/scripted-policy.js";
import { ToolSet } from "../../tools/tool-set.js";
import "../../api/view.js";
import { questionTree } from "./question-tree.js";
import { reportPage } from "./report-page.js";

const toy: LoadedBenchmark = {
  benchmark: { name: "toy", title: "A <toy>", task: "qa", prompt: "none" },
  items: ["<b>A</b>?", "B?"].map((question, index) => ({
    ...{ index, question, answer: ["right"], row: {} },
  })),
  path: "",
  sha256: "toy",
};
const tools = new ToolSet([
  { name: "search", tag: "search", description: "", execute: (input) => `found ${input}` },
]);
const evaluation = await evaluate(
  new ScriptedPolicy(({ turn, text }) => ({
    text:
      turn === 0
        ? "<search>x</search>"
        : `<answer>${text.includes("A") ? "right" : "</script>"}</answer>`,
    confidence: 0.5,
  })),
  toy,
  { samples: 2, tools },
);

test("reportPage() tells each question and sample, and leaves no markup of the model's alive", () => {
  const page = reportPage(evaluation);
  assert.equal(page.match(/<details data-question/g)?.length, 2);
  assert.match(
    page,
    /data-is="right"><summary><span class="arpo-marks">\+\+<\/span> 1\. &#60;b&#62;A/,
  );
  assert.match(page, /data-is="wrong"/);
  assert.doesNotMatch(page, /<b>A<\/b>/);
  // What closes a script in the page is the page's own.
  const opened = page.match(/<script/g)!.length;
  assert.equal(page.match(/<\/script>/g)!.length, opened);
  assert.match(page, /aria-label="Accuracy: toy 50 per cent\."/);
  assert.match(page, /pass@k: toy from 50 to 50\./);
  assert.match(page, /Tool calls per sample: toy 1\.00\./);
});

test("reportPage() leaves tokens out beyond its budget", () => {
  const page = reportPage(evaluation, { tokenBytes: 10 });
  assert.ok(!page.includes("<div data-picture></div><script"));
  assert.match(page, /Its tokens are left out to keep this page small/);
});

test("questionTree() has a trajectory per sample with its tokens, tools and score", () => {
  const { tree, scored } = questionTree(evaluation, "toy", 1);
  assert.deepEqual(
    tree.trajectories.map(({ calls, end }) => [calls, end]),
    [
      [1, "answer"],
      [1, "answer"],
    ],
  );
  assert.deepEqual(
    tree.path(tree.trajectories[1]!.leaf).map(({ kind }) => kind),
    ["model", "tool", "model"],
  );
  const [node] = tree.nodes;
  assert.equal(node!.entropies.length, node!.tokens.length);
  assert.ok(Math.abs(node!.entropies[0]! - Math.log(2)) < 1e-5);
  assert.equal(tree.selected[0]!.text, evaluation.samplesOf("toy", 1)[0]!.output);
  assert.equal(scored.mean, 0);
  assert.throws(() => questionTree(evaluation, "toy", 9), /samples of question 9, got none/);
});

test("an Evaluation shows itself as a report once views are loaded", () => {
  const show = evaluation[Symbol.for("Jupyter.display") as unknown as keyof typeof evaluation];
  const bundle = (show as unknown as () => Record<string, string>).call(evaluation);
  assert.match(bundle["text/html"]!, /^<div id="evaluation-/);
  assert.match(bundle["text/plain"]!, /toy +2 x 2 +50\.0/);
});

test("reportPage() draws a published figure only beside what may be compared with it", async () => {
  const gaia = { ...toy, benchmark: { ...toy.benchmark, name: "gaia" } };
  const policy = new ScriptedPolicy(() => ({ text: "<answer>right</answer>" }));
  const judge = {
    name: "some",
    judge: async (asked: readonly unknown[]) => asked.map(() => ({ correct: true })),
  };
  assert.match(reportPage(await evaluate(policy, gaia, { judge })), /<circle[^>]*><title>AEPO/);
  const unjudged = reportPage(await evaluate(policy, gaia));
  assert.doesNotMatch(unjudged, /<circle[^>]*><title>AEPO/);
  assert.match(unjudged, /AEPO with Qwen3-14B 47\.6 .*not comparable: a judge decided there/);
});
