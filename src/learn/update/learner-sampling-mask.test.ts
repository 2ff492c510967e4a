import assert from "node:assert/strict";
import { test } from "node:test";
import { Model } from "../../model/transformer/transformer.js";
import { HfTokenizer } from "../../model/tokenizer/hf-tokenizer.js";
import { ModelPolicy } from "../../policy/policy-from-model.js";
import { supportAt } from "../../policy/token-sets.js";
import type { Sampling } from "../../policy/policy.js";
import { score } from "../../reward/score-trees.js";
import { treesFromJsonl, treesToJsonl } from "../../rollout/files/tree-jsonl.js";
import { treesFromParquet, treesToParquet } from "../../rollout/files/tree-parquet.js";
import { rollout } from "../../rollout/rollout.js";
import { tinyTokenizer } from "../../run/tiny/tiny-tokenizer.js";
import { gradientsOf } from "../../tensor/gradients.js";
import { tf } from "../../tensor/tf.js";
import { advantages } from "../advantages.js";
import { type BatchSequence, saidLogprobs, TrainingBatch } from "../batch.js";
import { Learner } from "./learner.js";
import { passLogProbs, spreadOver } from "./passes.js";
import type { UpdateOptions } from "./update-settings.js";

const tokenizer = new HfTokenizer(tinyTokenizer());
const sizes = {
  ...{ vocabSize: tokenizer.vocabSize, hiddenSize: 16, intermediateSize: 24, layers: 1, heads: 2 },
  ...{ contextLength: 64, initializerRange: 0.4 },
};
const fresh = () => Model.init(sizes, 7);

const cuts: [name: string, sampling: Sampling][] = [
  ["top-p", { topP: 0.8, temperature: 0.9 }],
  ["top-k", { topK: 5 }],
  ["min-p", { minP: 0.2 }],
];

async function grown(sampling: Sampling) {
  const policy = new ModelPolicy(fresh(), tokenizer);
  const tasks = ["1+1", "2*3"].map((prompt) => ({ prompt, groundTruth: "" }));
  return rollout(policy, tasks, { sampling, n: 3, responseLength: 10, seed: 3 });
}

async function sequencesOf(sampling: Sampling): Promise<BatchSequence[]> {
  let n = 0;
  const scored = await score(await grown(sampling), () => Math.sin(n++));
  return [...advantages(scored).trajectories];
}

const largest = (values: Iterable<number>) => Math.max(...Array.from(values, Math.abs));

for (const [name, sampling] of cuts) {
  test(`${name}: what was left is recorded, and old log-probabilities and the sampler's are over it`, async () => {
    const sequences = await sequencesOf(sampling);
    const learner = new Learner(fresh(), { temperature: sampling.temperature ?? 1 });
    const prepared = await learner.prepare(sequences);
    for (const sequence of prepared) {
      const { trajectory, oldLogprobs } = sequence;
      const support = trajectory.support!;
      trajectory.tokens.forEach((token, t) => {
        const ids = supportAt(support, t);
        assert.ok(ids.includes(token));
        assert.ok(ids.length < tokenizer.vocabSize);
        if (sampling.topK !== undefined) assert.ok(ids.length >= sampling.topK);
        if (ids.length === 1) assert.ok(Math.abs(oldLogprobs[t]!) < 1e-6);
      });
      const said = saidLogprobs(sequence);
      assert.ok(largest(oldLogprobs.map((p, t) => p - said[t]!)) < 1e-4);
      // The whole vocabulary's are lower by what was left: the ratio to the sampler is too small.
      assert.ok(largest(trajectory.logprobs.map((p, t) => p - said[t]!)) > 0.05);
    }
    const entropies = prepared.map((sequence) => [...sequence.entropies]);
    const whole = await learner.prepare(sequences, { samplingMask: "whole" });
    for (const [i, { trajectory, oldLogprobs, entropies: again }] of whole.entries()) {
      assert.ok(largest(oldLogprobs.map((p, t) => p - trajectory.logprobs[t]!)) < 1e-4);
      assert.deepEqual([...again], entropies[i]);
    }
  });
}

test("a support goes through JSON lines, parquet and forks with its tokens", async () => {
  const trees = await grown(cuts[0]![1]);
  for (const again of [
    treesFromJsonl(treesToJsonl(trees)),
    await treesFromParquet(await treesToParquet(trees)),
  ]) {
    assert.deepEqual(
      again.map(({ nodes }) => nodes),
      trees.map(({ nodes }) => nodes),
    );
  }
  const [tree] = trees;
  const node = tree!.nodes.find(({ tokens }) => tokens.length > 4)!;
  const forked = await tree!.fork(node.id, { at: 3, seed: 4 });
  const path = forked.trajectories[0]!;
  const whole = supportAt(node.support!, 2);
  assert.deepEqual(supportAt(path.support!, 2), whole);
  const bad = treesToJsonl([tree!]).replace('"support":{"offsets":[0,', '"support":{"offsets":[1,');
  assert.throws(() => treesFromJsonl(bad), /support.offsets must be .* rising places of/);
});

/** The sum of weighted log-probabilities as a pass gives it. */
function weighted(model: Model, sequences: readonly BatchSequence[], shared: boolean): tf.Scalar {
  const { logprobs } = passLogProbs(model, sequences, { temperature: 0.9, shared });
  return logprobs
    .mul(spreadOver(sequences, ({ advantages: a }) => a.map((x, t) => x + Math.sin(t))))
    .sum();
}

test("the gradient over a support is that of finite differences, with shared prefixes and without", async () => {
  const sequences = await sequencesOf(cuts[0]![1]);
  const model = fresh();
  for (const shared of [false, true]) {
    const { gradients } = gradientsOf(() => weighted(model, sequences, shared), model.trainable);
    for (const name of ["model.norm.weight", "model.layers.0.mlp.down_proj.weight"]) {
      const weight = model.weights.get(name)!;
      const values = weight.dataSync().slice();
      const at = 3;
      const with_ = (by: number) => {
        const moved = values.slice();
        moved[at]! += by;
        weight.assign(tf.tensor(moved, weight.shape));
        return tf.tidy(() => weighted(model, sequences, shared).dataSync()[0]!);
      };
      const found = (with_(0.02) - with_(-0.02)) / 0.04;
      with_(0);
      const wanted = gradients[name]!.dataSync()[at]!;
      assert.ok(Math.abs(found - wanted) < 2e-2 * (1 + Math.abs(wanted)), `${found} ${wanted}`);
    }
  }
});

async function updated(sequences: BatchSequence[], options: UpdateOptions = {}) {
  const model = fresh();
  const learner = new Learner(model, { learningRate: 1e-2, temperature: 0.9, ...options });
  const { metrics } = await learner.update(new TrainingBatch(sequences, "grpo"));
  return {
    metrics,
    weights: [...model.weights.values()].flatMap((w) => [...(w.dataSync() as Float32Array)]),
  };
}

test("an update over a support: ratios begin at 1, a mean ratio to the sampler is 1 and less over the whole", async () => {
  const sampling = cuts[0]![1];
  const make = () => sequencesOf(sampling);
  const options = { rolloutCorrection: true, reference: fresh(), klLossCoefficient: 0.1 };
  const recorded = await updated(await make(), options);
  const whole = await updated(await make(), { ...options, samplingMask: "whole" });
  assert.ok(Math.abs(recorded.metrics["rollout_corr/rollout_is_mean"]! - 1) < 1e-3);
  assert.ok(Math.abs(recorded.metrics["actor/ppo_kl"]!) < 1e-5);
  assert.ok(Math.abs(recorded.metrics["actor/kl_loss"]!) < 1e-5);
  assert.ok(recorded.metrics["sampling/kept_mass"]! < 0.95);
  assert.ok(largest(recorded.weights.map((w, i) => w - whole.weights[i]!)) > 1e-4);
  // Entropies are of the whole vocabulary in both.
  assert.equal(recorded.metrics["actor/entropy_loss"], whole.metrics["actor/entropy_loss"]);
  const reused = await updated(await make(), { reuseLogProbs: true, ...{ reference: fresh() } });
  const measured = await updated(await make());
  assert.ok(largest(reused.weights.map((w, i) => w - measured.weights[i]!)) < 2e-3);
});

test("what a support says of a token that is not trained changes no bit", async () => {
  const hidden = async (ids: number[]) => {
    const sequences = await sequencesOf(cuts[0]![1]);
    for (const { trajectory } of sequences) {
      const { support, tokens } = trajectory;
      trajectory.lossMask = trajectory.lossMask.slice();
      trajectory.lossMask[1] = 0;
      const all = Array.from(tokens, (_, t) => (t === 1 ? ids : [...supportAt(support!, t)]));
      let end = 0;
      trajectory.support = {
        offsets: Int32Array.from([0, ...all.map(({ length }) => (end += length))]),
        ids: Int32Array.from(all.flat()),
        logprobs: support!.logprobs.map((p, t) => (t === 1 ? NaN : p)),
      };
    }
    return updated(sequences, { rolloutCorrection: true });
  };
  const [some, none] = [await hidden([1, 2]), await hidden([])];
  assert.deepEqual(some, none);
});

test("log-probabilities over a support are refused of a reference elsewhere, and the whole are not", async () => {
  const sequences = await sequencesOf(cuts[0]![1]);
  const reference = new ModelPolicy(fresh(), tokenizer);
  const elsewhere = { logProbs: reference.logProbs.bind(reference) };
  const options = { klLossCoefficient: 0.1, reference: elsewhere };
  await assert.rejects(updated(sequences, options), /samplingMask "whole" takes them/);
  await updated(sequences, { ...options, samplingMask: "whole" });
});
