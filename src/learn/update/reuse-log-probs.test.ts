import assert from "node:assert/strict";
import { test } from "node:test";
import { HfTokenizer } from "../../model/tokenizer/hf-tokenizer.js";
import { Model } from "../../model/transformer/transformer.js";
import { ModelPolicy } from "../../policy/policy-from-model.js";
import { score } from "../../reward/score-trees.js";
import { treesFromJsonl, treesToJsonl } from "../../rollout/files/tree-jsonl.js";
import { rollout } from "../../rollout/rollout.js";
import type { RolloutTree } from "../../rollout/rollout-tree.js";
import { tinyTokenizer } from "../../run/tiny/tiny-tokenizer.js";
import { advantages } from "../advantages.js";
import { update } from "./learner.js";
import type { UpdateOptions } from "./update-settings.js";

const tokenizer = new HfTokenizer(tinyTokenizer());
const sizes = {
  ...{ vocabSize: tokenizer.vocabSize, hiddenSize: 16, intermediateSize: 24, layers: 1, heads: 2 },
  ...{ contextLength: 64, initializerRange: 0.4 },
};
const fresh = () => new ModelPolicy(Model.init(sizes, 7), tokenizer);
const drawn = (policy: ModelPolicy, temperature = 1) =>
  rollout(
    policy,
    { prompt: "1+1", groundTruth: "" },
    { sampling: { temperature }, n: 4, responseLength: 10, seed: 3 },
  );

/** The share of trajectories that were not measured again, and the largest difference that it made. */
async function shareOf(policy: ModelPolicy, tree: RolloutTree, options: UpdateOptions = {}) {
  const batch = advantages(
    await score(tree, ({ length, response }) => length + response.length / 7),
  );
  const measured = await policy.logProbs(
    batch.trajectories.map(({ trajectory }) => trajectory),
    { temperature: options.temperature ?? 1 },
  );
  const { metrics } = await update(policy, batch, { learningRate: 1e-4, ...options });
  let apart = 0;
  batch.trajectories.forEach(({ oldLogprobs, trajectory: { lossMask } }, i) =>
    oldLogprobs!.forEach((p, t) => {
      if (lossMask[t]) apart = Math.max(apart, Math.abs(p - measured[i]!.logprobs[t]!));
    }),
  );
  return { share: metrics["actor/reused_log_probs"] ?? 0, apart };
}

test("what the weights of now drew in this process is not measured again", async () => {
  const policy = fresh();
  const { share, apart } = await shareOf(policy, await drawn(policy));
  assert.equal(share, 1);
  assert.ok(apart < 1e-5, String(apart));
  const warm = fresh();
  const said = await shareOf(warm, await drawn(warm, 0.7), { temperature: 0.7 });
  assert.equal(said.share, 1);
  assert.ok(said.apart < 1e-5, String(said.apart));
});

test("what other weights, another temperature or a file said is measured, and so is all when asked", async () => {
  const policy = fresh();
  const old = await drawn(policy);
  const [first] = policy.model.trainable.values();
  first!.assign(first!.mul(1.5));
  policy.model.changed();
  const other = fresh();
  const cases: [string, ModelPolicy, RolloutTree, UpdateOptions?][] = [
    ["the same model, changed since", policy, old],
    ["a model of the same weights", fresh(), await drawn(other)],
    ["another temperature", other, await drawn(other), { temperature: 0.5 }],
  ];
  const last = fresh();
  const tree = await drawn(last);
  cases.push(["asked", last, tree, { reuseLogProbs: false }]);
  const file = fresh();
  cases.push(["a file", file, treesFromJsonl(treesToJsonl([await drawn(file)]))[0]!]);
  for (const [name, trained, of, options] of cases) {
    const { share, apart } = await shareOf(trained, of, { ...options, rolloutCorrection: false });
    assert.equal(share, 0, name);
    assert.ok(apart < 1e-5, `${name} ${apart}`);
  }
});
