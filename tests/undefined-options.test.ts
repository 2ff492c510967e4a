// An option that is given as undefined is not given: it takes the default or the preset's value.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { evaluateTasks } from "../src/eval/evaluate-tasks.js";
import { inferenceSettings } from "../src/eval/infer/options.js";
import { readCSV } from "../src/interop/frame/files.js";
import { advantages } from "../src/learn/advantages.js";
import { update } from "../src/learn/update/learner.js";
import { modelFolder } from "../src/model/files/model-folder.js";
import { Model } from "../src/model/transformer/transformer.js";
import { Policy } from "../src/policy/policies.js";
import { judgedTrajectory } from "../src/reward/judged-trajectory.js";
import { score } from "../src/reward/score-trees.js";
import { rollout } from "../src/rollout/rollout.js";
import { randomTextPolicy } from "../src/rollout/testing/random-text-policy.js";
import { AdamW } from "../src/tensor/adamw.js";
import { tf } from "../src/tensor/tf.js";

const policy = randomTextPolicy();
const task = { prompt: "6*7?", groundTruth: "42" };
const tree = await rollout(policy, task, { preset: "aepo", n: 4, seed: 1 });
const scored = await score(tree, ({ length }) => length % 2);

test("a policy keeps its folder's name", async () => {
  for (const dtype of ["float32", "int8"] as const) {
    const loaded = await Policy.load(modelFolder("data/models/tiny"), { name: undefined, dtype });
    assert.equal(loaded.name, "tiny");
    loaded.dispose();
  }
});

test("a rollout keeps its preset and its defaults", async () => {
  const { config } = await rollout(policy, task, { preset: "grpo", n: undefined, seed: undefined });
  assert.deepEqual([config.n, config.seed], [16, 0]);
  const options = { mode: "validate", validation: { temperature: undefined } } as const;
  const validated = await rollout(policy, task, options);
  assert.equal(validated.config.validation.temperature, 0);
});

test("a fork and a replay keep the tree's settings", async () => {
  const changes = { branchProbability: undefined, entropyWeight: undefined };
  const { config } = await tree.fork(1, changes);
  assert.deepEqual({ ...config, dynamicRollouts: false }, tree.config);
  assert.deepEqual(tree.replay({ probability: undefined }), tree.replay({}));
});

test("an update and advantages keep their preset", async () => {
  const batch = advantages(scored, { preset: "at2po", estimator: undefined });
  assert.equal(batch.estimator, "at2po");
  const model = Model.init(
    { vocabSize: 128, hiddenSize: 8, intermediateSize: 16, layers: 1, heads: 2 },
    1,
  );
  const report = await update({ model }, batch, {
    preset: "aepo",
    entropyBalancedClipping: undefined,
  });
  assert.equal(report.options.entropyBalancedClipping, true);
});

test("AdamW keeps its defaults, and a step its options", async () => {
  const weights = new Map([["w", tf.variable(tf.tensor1d([1]))]]);
  const optimizer = new AdamW(weights, { learningRate: 0.1, beta1: undefined, maxNorm: undefined });
  assert.deepEqual([optimizer.options.beta1, optimizer.options.maxNorm], [0.9, Infinity]);
  const report = await optimizer.step({ w: tf.tensor1d([1]) }, { learningRate: undefined });
  assert.equal(report.skipped, false);
  assert.ok(weights.get("w")!.dataSync()[0]! < 1);
});

test("an evaluation keeps its sampling, and inference its limits", async () => {
  const { trees } = (
    await evaluateTasks(policy, [task], {
      reward: ({ length }) => length,
      sampling: undefined,
    })
  ).scored;
  assert.equal(trees[0]!.config.sampling.temperature, 0);
  const { limits, sampling } = inferenceSettings({
    limits: { python: undefined as never },
    sampling: { temperature: undefined },
  });
  assert.deepEqual(
    [limits["python"], sampling.temperature],
    [5, inferenceSettings().sampling.temperature],
  );
});

test("a CSV keeps its delimiter, a judged trajectory its length", async () => {
  const folder = mkdtempSync(join(tmpdir(), "undefined-"));
  try {
    const file = join(folder, "a.csv");
    writeFileSync(file, "name;x,reward\na;b,1\n");
    const frame = await readCSV(file, { delimiter: undefined, header: undefined });
    assert.deepEqual(frame.columns, ["name;x", "reward"]);
  } finally {
    rmSync(folder, { recursive: true });
  }
  assert.equal(judgedTrajectory({ response: "four", length: undefined }).length, 4);
});
