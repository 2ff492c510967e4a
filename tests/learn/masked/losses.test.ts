import assert from "node:assert/strict";
import { test } from "node:test";
import { entropyAwareAdvantage } from "../../../src/learn/losses/base/tensor-ops.js";
import { aggregateLoss } from "../../../src/learn/losses/base/aggregate.js";
import { defineLoss } from "../../../src/learn/losses/base/definition.js";
import { klInReward } from "../../../src/learn/losses/base/kl.js";
import { klKinds, lossAggregations } from "../../../src/learn/losses/base/options.js";
import type { ActorLossOptions } from "../../../src/learn/losses/loss-rules.js";
import { actorLoss, losses, valueLoss } from "../../../src/learn/losses/losses.js";
import { lossNames, lossRegistry } from "../../../src/learn/losses/registry.js";
import { tf } from "../../../src/tensor/tf.js";
import { bytes, filled, fillers, type Matrix, shapes, type Tensor } from "./fillers.js";

/** A loss that knows nothing of masks: what is masked is kept from it by the door alone. */
lossRegistry.add(
  defineLoss({
    name: "knows_no_mask",
    title: "Knows no mask",
    aggregation: "token-mean",
    rule: "older",
    tensors({ logprobs, oldLogprobs, advantages, mask }, _, { figures }) {
      const ratio = logprobs.sub(oldLogprobs).exp();
      const loss = ratio.mul(advantages).neg().mean();
      return { loss, metrics: figures({ logprobs, oldLogprobs, advantages, mask }, ratio.log()) };
    },
    token: ({ ratio, advantage }) => {
      return { ratio, region: "inside", used: advantage, weight: ratio, loss: -ratio * advantage };
    },
  }),
);

type Inputs = Readonly<Record<string, Matrix>>;

/** Loss, figures and gradients as bytes, of inputs by name. */
function told(
  inputs: Inputs,
  moving: readonly string[],
  of: (input: Record<string, Tensor>) => Record<string, Tensor>,
): Record<string, string> {
  return tf.tidy(() => {
    const tensors = Object.fromEntries(
      Object.entries(inputs).map(([name, rows]) => [name, tf.tensor2d(rows)]),
    );
    const at = (given: Tensor[]) =>
      of({ ...tensors, ...Object.fromEntries(moving.map((name, i) => [name, given[i]!])) });
    const found = at(moving.map((name) => tensors[name]!));
    const slopes = tf.grads((...given: Tensor[]) => at(given)["loss"]!.asScalar())(
      moving.map((name) => tensors[name]!),
    );
    return Object.fromEntries([
      ...Object.entries(found).map(([name, x]) => [name, bytes(x.dataSync())]),
      // A masked token's slope is 0 or -0.
      ...moving.map((name, i) => [
        `gradient of ${name}`,
        bytes(slopes[i]!.dataSync().map((x) => x + 0)),
      ]),
    ]);
  });
}

const seeds = [1, 2, 3];
let compared = 0;

/** The same bytes whatever stands where the mask is 0: in all of the inputs and, with `each`, in each. */
function sameWhatever(
  seed: number,
  names: readonly string[],
  moving: readonly string[],
  of: (input: Record<string, Tensor>) => Record<string, Tensor>,
  each = true,
) {
  const { mask, normal } = shapes(seed);
  const own = Object.fromEntries(names.map((name) => [name, normal()]));
  const expected = told({ ...own, mask }, moving, of);
  for (const by of fillers) {
    for (const which of [names, ...(each ? names.map((name) => [name]) : [])]) {
      const changed = Object.fromEntries(which.map((name) => [name, filled(own[name]!, mask, by)]));
      assert.deepEqual(told({ ...own, ...changed, mask }, moving, of), expected, `${by} ${which}`);
      compared++;
    }
  }
}

const inputs = ["logprobs", "oldLogprobs", "advantages", "entropies", "refLogprobs"];

for (const { name } of lossRegistry.all) {
  test(`${name}: what stands at a masked token changes no bit of loss, gradient and figures`, () => {
    const ways: ActorLossOptions[] = [
      ...lossAggregations.map((aggregation) => ({ aggregation })),
      ...klKinds.map((klLossKind) => ({ klLossKind })),
      { entropyBalancedAdvantage: true, entropyBalancedClipping: true },
    ];
    for (const [i, own] of ways.entries()) {
      const options: ActorLossOptions = {
        ...{ loss: lossRegistry.get(name)!, entropyCoefficient: 0.1, klLossCoefficient: 0.2 },
        ...{ droBeta: 0.7, clipCovRatio: 0.5, clipCovLow: -9, klCovRatio: 0.5, ...own },
      };
      const told = (input: Record<string, Tensor>) => {
        const { metrics, loss, policy, kl, entropy } = actorLoss(input as never, options);
        return { loss, policy, kl: kl!, entropy: entropy!, ...metrics };
      };
      const names = i % 2 ? inputs : [...inputs, "rolloutWeights"];
      sameWhatever(i, names, ["logprobs", "entropies"], told, i < 2);
    }
  });
}

test("the door changes no bit of what has numbers at its masked tokens", () => {
  for (const name of lossNames) {
    for (const seed of seeds) {
      const { mask, normal } = shapes(seed);
      // An empty sequence has a NaN where the door is open.
      for (const sequence of mask) sequence[0] = 1;
      const own = { logprobs: normal(), oldLogprobs: normal(), advantages: normal(), mask };
      const run = (referenceNaN: boolean) => {
        const options = { droBeta: 1, clipCovRatio: 0.5, clipCovLow: -9, referenceNaN };
        return told(own, ["logprobs"], (input) => ({
          loss: losses[name](input as never, options).loss,
        }));
      };
      assert.deepEqual(run(false), run(true), `${name} ${seed}`);
    }
  }
});

test("a critic's loss, an aggregation and AEPO's advantage do not see masked tokens", () => {
  for (const seed of seeds) {
    sameWhatever(seed, ["predictions", "values", "returns"], ["predictions"], (input) => {
      const { loss, metrics } = valueLoss(input as never);
      return { loss, ...metrics };
    });
    for (const mode of lossAggregations) {
      sameWhatever(seed, ["values"], ["values"], ({ values, mask }) => ({
        loss: aggregateLoss(values!, mask!, mode),
      }));
    }
    sameWhatever(seed, ["advantages", "entropies"], ["advantages"], (input) => {
      const { advantages, entropies, mask } = input;
      return { loss: entropyAwareAdvantage(advantages!, entropies!, mask!).mul(mask!).sum() };
    });
  }
  console.log(`${compared} inputs compared`);
});

test("a KL penalty in the reward does not see masked tokens", async () => {
  const { mask, normal } = shapes(4);
  const own = { scores: normal(), oldLogprobs: normal(), refLogprobs: normal() };
  for (const kind of klKinds) {
    const control = { type: "adaptive", coefficient: 0.2, target: 1, horizon: 10 } as const;
    const expected = await klInReward({ ...own, mask }, { kind, control });
    for (const by of fillers) {
      for (const which of ["oldLogprobs", "refLogprobs"] as const) {
        const changed = { ...own, mask, [which]: filled(own[which], mask, by) };
        assert.deepEqual(await klInReward(changed, { kind, control }), expected, `${kind} ${by}`);
      }
    }
  }
});

const row = (...x: number[]) => tf.tensor2d([x]);
/** The gradient of a loss at log-probabilities, with advantages of 1. */
const slope = (name: keyof typeof losses, now: number[], old: number[], how: object, A = 1) =>
  Array.from(
    tf
      .grad((logprobs: Tensor) => {
        const [advantages, mask] = [tf.fill([1, now.length], A), tf.ones([1, now.length])];
        return losses[name]({ logprobs, oldLogprobs: row(...old), advantages, mask }, how).loss;
      })(row(...now))
      .dataSync(),
    (x) => x + 0,
  );

test("the default loss bounds the log ratio at 20 on either side, as verl does", () => {
  assert.deepEqual(slope("vanilla", [-1], [-100], {}), [0]);
  assert.deepEqual(slope("vanilla", [-1], [-100], {}, -1), [0]);
  assert.deepEqual(slope("vanilla", [-100], [-1], {}), [0]);
  const at = losses.vanilla({
    ...{ logprobs: row(-100), oldLogprobs: row(-1), advantages: row(1), mask: row(1) },
  });
  assert.ok(Math.abs(at.metrics.ppo_kl.dataSync()[0]! - 20) < 1e-4);
});

test("gspo has no gradient beyond its bound of 10", () => {
  // A mean of 11, and one of 9.
  assert.deepEqual(slope("gspo", [-1, -1], [-12, -12], {}, -1), [0, 0]);
  const [inside] = slope("gspo", [-1, -1], [-10, -10], {}, -1);
  assert.ok(Math.abs(inside! / (Math.exp(9) / 2) - 1) < 1e-4);
});

test("a clip range of 0 keeps the whole gradient of a token that has not moved, as PyTorch does", () => {
  for (const name of lossNames) {
    const [own] = slope(name, [-1], [-1], { clipRatio: 0, droBeta: 1 });
    // APPO doubles its advantages.
    assert.ok(Math.abs(own! - (name === "future_kl" ? -2 : -1)) < 1e-6, `${name}: ${own}`);
  }
});

test("a KL estimate far from the reference has a finite gradient", () => {
  for (const [now, ref] of [
    [-1, -200],
    [-200, -1],
  ] as const) {
    for (const klLossKind of klKinds) {
      const run = (logprobs: Tensor) =>
        actorLoss(
          {
            ...{ logprobs, oldLogprobs: row(now), advantages: row(1), mask: row(1) },
            refLogprobs: row(ref),
          },
          { klLossCoefficient: 1, klLossKind },
        ).loss.asScalar();
      assert.ok(Number.isFinite(tf.grad(run)(row(now)).dataSync()[0]), klLossKind);
    }
  }
});
