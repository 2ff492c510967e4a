import assert from "node:assert/strict";
import { test } from "node:test";
import { tf } from "../../../tensor/tf.js";
import { losses } from "../losses.js";
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
