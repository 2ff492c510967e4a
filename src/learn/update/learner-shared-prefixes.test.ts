import assert from "node:assert/strict";
import { test } from "node:test";
import { Model } from "../../model/transformer/transformer.js";
import { shareRows } from "../../model/transformer/sharing.js";
import { score } from "../../reward/score-trees.js";
import { rollout } from "../../rollout/rollout.js";
import { rolloutPresets } from "../../rollout/presets.js";
import { randomTextPolicy } from "../../rollout/testing/random-text-policy.js";
import { gradientsOf } from "../../tensor/gradients.js";
import type { tf } from "../../tensor/tf.js";
import { ToolSet } from "../../tools/tool-set.js";
import { calculator } from "../../tools/calculator/calculator.js";
import { advantages } from "../advantages.js";
import type { BatchSequence } from "../batch.js";
import { Learner } from "./learner.js";
import type { UpdateOptions } from "./update-settings.js";
import { optionsFor } from "../../../common/options/check-options.js";
import { type ActorLossOptions, lossRules } from "../losses/loss-rules.js";
import { actorLoss } from "../losses/losses.js";
import { passLogProbs, spreadOver } from "./passes.js";

const sizes = {
  vocabSize: 128,
  hiddenSize: 16,
  intermediateSize: 24,
  layers: 2,
  heads: 4,
  kvHeads: 2,
  initializerRange: 0.3,
};

/** Rows of real trees: they branch, end at different lengths and hold tool results. */
async function sequencesOf(attribution: "soft" | "hard"): Promise<BatchSequence[]> {
  const tasks = ["one", "another"].map((prompt) => ({ prompt, groundTruth: "" }));
  const trees = await rollout(randomTextPolicy(), tasks, {
    ...rolloutPresets.arpo,
    branchProbability: 1,
    n: 8,
    initialRollouts: 3,
    tools: new ToolSet([calculator({ tag: "calc" })]),
    responseLength: 90,
    seed: 5,
  });
  let n = 0;
  const scored = await score(trees, () => Math.sin(n++));
  return [...advantages(scored, { attribution }).trajectories];
}

const model = Model.init(sizes, 4);

async function prepared(attribution: "soft" | "hard"): Promise<BatchSequence[]> {
  const sequences = await sequencesOf(attribution);
  const { logprobs } = await new Learner(model).logProbs(sequences);
  // Old and reference policies a little away, so that ratios leave the bounds.
  const away = (i: number, by: number) =>
    logprobs[i]!.map((value, t) => value + by * Math.sin(3 * t + i));
  return sequences.map((sequence, i) => ({
    ...sequence,
    oldLogprobs: away(i, 0.4),
    refLogprobs: away(i, 0.2),
  }));
}

/** The loss and its gradient, and how many shared tokens the rows have. */
function gradient(sequences: readonly BatchSequence[], options: UpdateOptions, shared: boolean) {
  const { value, gradients } = gradientsOf(() => {
    const { logprobs, entropies } = passLogProbs(model, sequences, {
      temperature: 0.8,
      shared,
      ...options,
    });
    const input = {
      logprobs,
      entropies,
      oldLogprobs: spreadOver(sequences, (sequence) => sequence.oldLogprobs!),
      refLogprobs: spreadOver(sequences, (sequence) => sequence.refLogprobs!),
      advantages: spreadOver(sequences, (sequence) => sequence.advantages),
      mask: spreadOver(sequences, (sequence) => sequence.trajectory.lossMask),
    };
    const { loss } = actorLoss(input, optionsFor<ActorLossOptions>(lossRules(), options));
    return loss.asScalar();
  }, model.weights);
  const flat = Object.entries(gradients).map(([name, g]) => ({ name, values: [...g.dataSync()] }));
  return { loss: value.dataSync()[0]!, flat };
}

const kinds: Record<string, UpdateOptions> = {
  "PPO, entropy bonus and KL": { entropyCoefficient: 0.1, klLossCoefficient: 0.3 },
  "AEPO, row means": {
    entropyBalancedAdvantage: true,
    entropyBalancedClipping: true,
    aggregation: "seq-mean-token-mean",
  },
  "PPO, sums, layers computed again": { aggregation: "seq-mean-token-sum", checkpointing: true },
  GSPO: { loss: "gspo" },
};

for (const attribution of ["soft", "hard"] as const) {
  for (const [name, options] of Object.entries(kinds)) {
    test(`a shared prefix computed once has the gradients of its rows: ${name}, ${attribution}`, async () => {
      const sequences = await prepared(attribution);
      const apart = gradient(sequences, options, false);
      const once = gradient(sequences, options, true);
      assert.ok(Math.abs(apart.loss - once.loss) <= 1e-5 * Math.max(1, Math.abs(apart.loss)));
      let largest = 0;
      let worst = 0;
      apart.flat.forEach(({ name: weight, values }, i) => {
        assert.equal(once.flat[i]!.name, weight);
        values.forEach((value, j) => {
          largest = Math.max(largest, Math.abs(value));
          worst = Math.max(worst, Math.abs(value - once.flat[i]!.values[j]!));
        });
      });
      assert.ok(largest > 1e-2, `the gradient must be one, got ${largest}`);
      assert.ok(worst <= 1e-5 * Math.max(1, largest), `${worst} of ${largest}`);
    });
  }
}

test("shareRows() has every different beginning once", async () => {
  const sequences = (await sequencesOf("soft")).map(({ trajectory: { prompt, tokens } }) => [
    ...prompt,
    ...tokens,
  ]);
  const { batch, index, time } = shareRows(sequences, model.config);
  const beginnings = new Set(
    sequences.flatMap((sequence) => sequence.map((_, t) => sequence.slice(0, t + 1).join())),
  );
  assert.equal(batch.ids.size, beginnings.size);
  assert.ok(beginnings.size < 0.7 * sequences.flat().length, "the rows must share something");
  const ids = batch.ids.dataSync();
  sequences.forEach((sequence, r) => {
    assert.deepEqual(
      sequence,
      sequence.map((_, t) => ids[index[r * time + t]!]),
    );
  });
});

test("Learner.update() moves the weights the same way with shared prefixes", async () => {
  const updated = async (sharedPrefixes: boolean) => {
    const own = Model.init(sizes, 4);
    const batch = advantages(
      await score(
        await rollout(randomTextPolicy(), [{ prompt: "x", groundTruth: "" }], { n: 6, seed: 2 }),
        (t) => t.length % 5,
      ),
    );
    const learner = new Learner(own, { learningRate: 1e-3, sharedPrefixes, miniBatchSize: 3 });
    const { metrics } = await learner.update(batch);
    return { metrics, weights: [...own.weights.values()].map((w: tf.Tensor) => [...w.dataSync()]) };
  };
  const [apart, once] = [await updated(false), await updated(true)];
  for (const [name, value] of Object.entries(apart.metrics)) {
    assert.ok(Math.abs(value - once.metrics[name]!) < 1e-4, name);
  }
  const far = apart.weights.flat().filter((w, i) => Math.abs(w - once.weights.flat()[i]!) > 1e-4);
  // AdamW's first steps are as long for a gradient of next to nothing as for any other.
  assert.ok(far.length < 0.001 * apart.weights.flat().length, String(far.length));
});
