import assert from "node:assert/strict";
import { test } from "node:test";
import { Random } from "../../base/random/random.js";
import { tf } from "../../tensor/tf.js";
import { type LossName, lossNames, lossOf } from "./registry.js";
import { losses } from "./losses.js";
import type { PolicyLossOptions } from "./registry.js";
import { seenTokens, tokenUpdate } from "./token-update.js";
import type { LossRow } from "./base/token-rule.js";

type Tensor = InstanceType<typeof tf.Tensor>;
type Matrix = number[][];

const time = 26;
/** Tool results in between, an empty sequence, a single token, and more turns than Tree-GRPO counts. */
const mask: Matrix = [
  Array.from({ length: time }, (_, t) => (t % 7 === 5 || t > 20 ? 0 : 1)),
  Array.from({ length: time }, (_, t) => (t % 2 === 0 ? 1 : 0)),
  Array.from({ length: time }, () => 0),
  Array.from({ length: time }, (_, t) => (t === 3 ? 1 : 0)),
  Array.from({ length: time }, () => 1),
];

function matrices(seed: number, reach: number) {
  const random = Random.from(seed);
  const draw = (name: string, low: number, high: number): Matrix => {
    const stream = random.split(name);
    return mask.map((row) => row.map(() => low + (high - low) * stream.uniform()));
  };
  const logprobs = draw("logprobs", -2.5, -0.1);
  const moved = draw("moved", -reach, reach);
  const oldLogprobs = logprobs.map((row, r) => row.map((x, t) => x - moved[r]![t]!));
  const advantages = draw("advantages", -1.5, 1.5);
  const stale = draw("stale", -0.8, 0.8);
  const sampledLogprobs = oldLogprobs.map((row, r) => row.map((x, t) => x + stale[r]![t]!));
  // Every other batch under a correction's weights.
  const weights = seed % 2 === 0 ? draw("weights", 0, 2) : undefined;
  return { logprobs, oldLogprobs, sampledLogprobs, advantages, weights };
}

const settings: Partial<Record<LossName, PolicyLossOptions>> = {
  clip_cov: { clipCovRatio: 0.1, clipCovLow: -0.5 },
  kl_cov: { klCovRatio: 0.1 },
  dro: { droBeta: 0.6 },
  dppo_tv: { clipRatioLow: 0.1, clipRatioC: 1.5 },
  dppo_kl: { clipRatioLow: 0.05, clipRatioHigh: 0.1, clipRatioC: 1.5 },
  gspo: { clipRatio: 0.05 },
  gspo_turn: { clipRatio: 0.1 },
  turn: { clipRatio: 0.1, clipRatioC: 1.2 },
  future_kl: { futureDecay: 6, futureClip: 0.3, futureSafety: 1.5 },
  decoupled: { staleUpper: 1.5, staleLower: 0.6 },
  two_sided: { ratioDelta: 1.5 },
  luspo: { clipRatio: 0.05, ratioDelta: 1.05 },
};
/** What must have occurred, or some branch of a rule was not looked at. */
const regions: Record<LossName, string> = {
  vanilla: "above below dual inside",
  gspo: "above below inside",
  cispo: "above below inside",
  sapo: "inside",
  clip_cov: "above below chosen inside",
  kl_cov: "chosen inside",
  geo_mean: "above below inside",
  gpg: "inside",
  dro: "inside",
  dppo_tv: "above below inside",
  dppo_kl: "above below inside",
  ce_gppo: "above below dual inside",
  gspo_turn: "above below inside",
  turn: "above below dropped dual inside",
  future_kl: "above below dropped dual inside",
  decoupled: "above below dropped dual inside",
  prime_rl: "above below inside",
  prime_ipo: "above below inside",
  two_sided: "above below dual inside",
  luspo: "above below dual inside",
  vespo: "inside",
};

for (const loss of lossNames) {
  test(`what ${loss} does to single tokens is the gradient of the loss`, () => {
    const facts = lossOf({ loss });
    const options: PolicyLossOptions = { loss, ...settings[loss] };
    if (!facts.ownAggregation) options.aggregation = "token-sum";
    const seen = new Set<string>();
    for (let seed = 1; seed <= 12; seed++) {
      const batch = matrices(seed, facts.ratioOf ? 0.5 : 1.6);
      const rows = mask.map((own, r): LossRow => ({
        logprobs: batch.logprobs[r]!,
        oldLogprobs: batch.oldLogprobs[r]!,
        sampledLogprobs: batch.sampledLogprobs[r]!,
        advantages: batch.advantages[r]!,
        mask: own,
        ...(batch.weights ? { weights: batch.weights[r]! } : {}),
      }));
      const input = {
        oldLogprobs: tf.tensor2d(batch.oldLogprobs),
        sampledLogprobs: tf.tensor2d(batch.sampledLogprobs),
        advantages: tf.tensor2d(batch.advantages),
        mask: tf.tensor2d(mask),
        ...(batch.weights ? { rolloutWeights: tf.tensor2d(batch.weights) } : {}),
      };
      const slopes = tf
        .grad((logprobs: Tensor) => losses[loss]({ ...input, logprobs }, options).loss)(
          tf.tensor2d(batch.logprobs),
        )
        .arraySync() as Matrix;
      const told = seenTokens(rows, options);
      mask.forEach((own, r) => {
        const count = own.reduce((n, m) => n + m, 0);
        own.forEach((trained, t) => {
          if (!trained) return assert.equal(slopes[r]![t]! + 0, 0);
          const { weight, used, hold = 0, region } = told(r, t).outcome;
          seen.add(region);
          // A mean over the sequences that have a token, in verl 0.9.1's rule, or over all.
          const counted = facts.rule === "verl-0.9.1" ? mask.length - 1 : mask.length;
          const ofRow = facts.aggregation === "seq-mean-token-sum" ? 1 : count;
          const share = facts.ownAggregation ? 1 / (counted * ofRow) : 1;
          const slope = share * (hold - weight * used);
          const place = `seed ${seed}, sequence ${r}, token ${t} (${region})`;
          assert.ok(
            Math.abs(slope - slopes[r]![t]!) < 1e-5 + 1e-4 * Math.abs(slope),
            `${place}: ${slope} instead of ${slopes[r]![t]!}`,
          );
        });
      });
    }
    assert.equal([...seen].sort().join(" "), regions[loss]);
  });
}

test("tokenUpdate() tells a single token's outcome under every loss", () => {
  const outcome = (loss: LossName, ratio: number, advantage: number) => {
    const {
      region,
      weight,
      hold = 0,
    } = tokenUpdate(ratio, advantage, {
      ...{ loss, droBeta: 2, oldLogprob: Math.log(0.4) },
    });
    return [region, Number(weight.toFixed(6)), Number(hold.toFixed(6))];
  };
  assert.deepEqual(outcome("vanilla", 1.5, 1), ["above", 0, 0]);
  assert.deepEqual(outcome("vanilla", 3.5, -1), ["dual", 0, 0]);
  assert.deepEqual(outcome("cispo", 0.5, 1), ["below", 0.8, 0]);
  assert.deepEqual(outcome("sapo", 1, 1), ["inside", 1, 0]);
  assert.deepEqual(outcome("gpg", 1.5, -1), ["inside", 1, 0]);
  assert.deepEqual(outcome("dro", Math.E, 1), ["inside", 1, 2]);
  assert.deepEqual(outcome("ce_gppo", 0.5, -1), ["below", 0.2, 0]);
  assert.deepEqual(outcome("ce_gppo", 1.5, 1), ["above", 1.2, 0]);
  // From 0.4 to 0.56 is allowed, to 0.7 is not.
  assert.deepEqual(outcome("dppo_tv", 1.4, 1), ["inside", 1.4, 0]);
  assert.deepEqual(outcome("dppo_tv", 1.75, 1), ["above", 0, 0]);
  assert.throws(
    () => tokenUpdate(1, 1, { loss: "dppo_kl" }),
    /oldLogprob must be given for dppo_kl/,
  );
  assert.throws(() => tokenUpdate(1, 1, { loss: "none" as LossName }), /must be one of vanilla/);
});
