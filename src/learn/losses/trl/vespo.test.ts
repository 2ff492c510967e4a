import assert from "node:assert/strict";
import { test } from "node:test";
import { tf } from "../../../tensor/tf.js";
import { losses } from "../losses.js";
import { tokenUpdates } from "../token-update.js";
import { vespo } from "./vespo.js";

test("a weight of a whole trajectory counts once in VESPO's ratio, as in TRL, one of tokens at each", () => {
  const [logprobs, oldLogprobs, mask] = [
    [-1, -2, -0.5],
    [-1.2, -1.9, -3],
    [1, 1, 0],
  ];
  const weights = [0.5, 0.5, 9];
  const loss = (wholeWeights: boolean) => {
    const row = (values: number[]) => tf.tensor2d([values]);
    const input = { logprobs: row(logprobs), oldLogprobs: row(oldLogprobs), mask: row(mask) };
    const found = losses.vespo({
      ...{ ...input, advantages: row([1, 1, 1]), rolloutWeights: row(weights), wholeWeights },
    });
    const shared = vespo.share!(
      [{ logprobs, oldLogprobs, mask, advantages: [1, 1, 1], weights, wholeWeights }],
      {} as never,
    );
    return { loss: found.loss.dataSync()[0]!, log: shared(0, 0)["wholeLogRatio"]! };
  };
  for (const [wholeWeights, times] of [
    [true, 1],
    [false, 2],
  ] as const) {
    const log = 0.2 - 0.1 + times * Math.log(0.5);
    const phi = Math.exp(3 + 2 * log - 3 * Math.exp(log));
    const found = loss(wholeWeights);
    assert.ok(Math.abs(found.log - log) < 1e-9);
    assert.ok(Math.abs(found.loss - (phi * 3) / 2) < 1e-5, `${found.loss} ${(phi * 3) / 2}`);
  }
});

test("VESPO's weight of a token is the factor of its gradient, whether the curve moves or not", () => {
  const [logprobs, oldLogprobs, mask] = [
    [-1, -2, -0.5],
    [-1.2, -1.9, -3],
    [1, 1, 0],
  ];
  for (const vespoThrough of [false, true]) {
    for (const advantage of [0.7, -0.4]) {
      const row = (values: number[]) => tf.tensor2d([values]);
      const advantages = [advantage, advantage, advantage];
      const fixed = { oldLogprobs: row(oldLogprobs), mask: row(mask), advantages: row(advantages) };
      const slopes = tf
        .grad((x: tf.Tensor) => losses.vespo({ ...fixed, logprobs: x }, { vespoThrough }).loss)(
          row(logprobs),
        )
        .dataSync();
      const one = { logprobs, oldLogprobs, mask, advantages };
      const told = tokenUpdates([one], 0, { loss: "vespo", vespoThrough });
      for (const t of [0, 1]) {
        const wanted = (-advantage * told[t]!.weight) / 2;
        assert.ok(Math.abs(slopes[t]! - wanted) < 1e-5, `${slopes[t]} ${wanted}`);
      }
      assert.equal(told[2], undefined);
    }
  }
});
