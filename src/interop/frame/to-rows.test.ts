import assert from "node:assert/strict";
import { test } from "node:test";
import { Evaluation } from "../../eval/report/evaluation.js";
import { Learner } from "../../learn/update/learner.js";
import { advantages } from "../../learn/advantages.js";
import { Model } from "../../model/transformer/transformer.js";
import { score } from "../../reward/score-trees.js";
import { rollout } from "../../rollout/rollout.js";
import { rolloutPresets } from "../../rollout/presets.js";
import { randomTextPolicy } from "../../rollout/testing/random-text-policy.js";
import { ToolSet } from "../../tools/tool-set.js";
import { calculator } from "../../tools/calculator/calculator.js";
import { type FrameRow, toRows } from "./to-rows.js";

const trees = await rollout(
  randomTextPolicy(),
  [
    { prompt: "a", groundTruth: "" },
    { prompt: "b", groundTruth: "" },
  ],
  {
    ...rolloutPresets.arpo,
    branchProbability: 1,
    n: 4,
    initialRollouts: 2,
    tools: new ToolSet([calculator({ tag: "calc" })]),
    responseLength: 60,
    seed: 3,
  },
);
const scored = await score(trees, (t) => ({
  score: t.length % 3,
  reason: "length",
  parts: { length: t.length },
}));
const batch = advantages(scored);
const model = Model.init(
  { vocabSize: 128, hiddenSize: 8, intermediateSize: 8, layers: 1, heads: 2 },
  1,
);
const report = await new Learner(model, { learningRate: 1e-3 }).update(batch);

const columns = (rows: readonly FrameRow[]) => Object.keys(rows[0]!);
const add = (rows: readonly FrameRow[], column: string) =>
  rows.reduce((sum, row) => sum + Number(row[column]), 0);

test("toRows() has every trajectory, node and token of trees", () => {
  const rows = toRows(trees);
  assert.equal(rows.length, 8);
  const nodes = toRows(trees, { by: "node" });
  assert.equal(nodes.length, trees[0]!.nodes.length + trees[1]!.nodes.length);
  const tokens = toRows(trees, { by: "token" });
  assert.equal(tokens.length, add(nodes, "tokens"));
  assert.deepEqual(toRows(trees[0]), rows.slice(0, 4));
});

test("toRows() has scores with their parts, batches, and updates by metric and token", () => {
  const rows = toRows(scored);
  assert.equal(add(rows, "part.length"), add(rows, "tokens"));
  assert.equal(add(toRows(batch), "reward"), add(rows, "score"));
  const metrics = toRows(report);
  assert.deepEqual(columns(metrics), ["metric", "value"]);
  const tokens = toRows(report, { by: "token" });
  assert.equal(tokens.length, add(rows, "tokens"));
  assert.equal(tokens.filter((row) => row["trained"]).length, batch.tokens);
  for (const row of tokens) {
    const ratio = Math.exp(Number(row["newLogprob"]) - Number(row["oldLogprob"]));
    if (row["trained"]) assert.ok(Math.abs(Number(row["ratio"]) - ratio) < 1e-9);
    else assert.ok(Number.isNaN(row["ratio"]) && row["region"] === "");
  }
});

test("toRows() gives lines of metrics the same columns and refuses what is no table", () => {
  const lines = [
    { step: 0, "val-core/calc/reward/mean@1": 0.5 },
    { step: 1, "critic/score/mean": 0.25 },
  ];
  const rows = toRows(lines);
  assert.deepEqual(columns(rows), ["step", "val-core/calc/reward/mean@1", "critic/score/mean"]);
  assert.ok(Number.isNaN(rows[1]!["val-core/calc/reward/mean@1"]));
  assert.deepEqual(toRows(new Evaluation({} as Evaluation["settings"], [], [])), []);
  assert.throws(() => toRows(5), /must be a tree, .* or a list of objects, got number/);
  assert.throws(() => toRows([1]), /got a list of something else/);
});
