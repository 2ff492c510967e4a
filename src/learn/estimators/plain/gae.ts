import { checkArguments } from "../../../../common/options/check-arguments.js";
import type { Advantages } from "../base/estimator.js";
import { type Rows, whiten } from "../../masked.js";
import { definePlainEstimator } from "../definition.js";

/**
 * Generalised advantage estimation with a critic's values:
 * delta(t) = r(t) + gamma V(t+1) - V(t), A(t) = delta(t) + gamma lambda A(t+1).
 * Returns are A + V; the advantages are whitened over the mask afterwards. Tokens outside the mask, a tool's
 * answer, are passed over: t+1 is the next token that the model wrote. With `results`, as before verl 0.9.1, they
 * are credited and discounted as if the model had written them.
 * @param input the reward, value and mask of every token
 */
export function gae(
  input: { rewards: Rows; values: Rows; mask: Rows },
  { gamma = 1, lambda = 1, results = false } = {},
): Advantages {
  checkArguments(
    "estimate advantages",
    { input },
    { input: { rewards: "list", values: "list", mask: "list" } },
  );
  const { rewards, values, mask } = input;
  const raw = rewards.map((row, i) => {
    const value = values[i]!;
    const advantage = new Float64Array(row.length);
    let [next, nextValue] = [0, 0];
    for (let t = row.length - 1; t >= 0; t--) {
      if (results || mask[i]![t]) {
        const delta = row[t]! + gamma * nextValue - value[t]!;
        next = delta + gamma * lambda * next;
        nextValue = value[t]!;
      }
      advantage[t] = next;
    }
    return advantage;
  });
  return {
    advantages: whiten(raw, mask),
    returns: raw.map((row, i) => row.map((a, t) => a + values[i]![t]!)),
  };
}

export const gaeEstimator = definePlainEstimator({
  name: "gae",
  meaning: "how much better it went on than the critic expected",
  formula:
    "δ(t) = r(t) + γ V(t+1) - V(t); A(t) = δ(t) + γ λ A(t+1); whitened; passes over tool results; needs a critic",
  needs: "values",
  alone: true,
  byToken: true,
  verl: true,
  advantages: gae,
  estimate: ({ rewards, mask, values }, { gamma, lambda }) =>
    gae({ rewards, mask, values: values! }, { gamma, lambda }),
});

export const gaeOlderEstimator = definePlainEstimator({
  name: "gae_older",
  meaning: "how much better it went on than the critic expected, tool results counted",
  formula: "as verl before 0.9.1: tool results are steps too; needs a critic",
  needs: "values",
  alone: true,
  countsMasked: true,
  advantages: (input: Parameters<typeof gae>[0], { gamma = 1, lambda = 1 } = {}) =>
    gae(input, { gamma, lambda, results: true }),
  estimate: ({ rewards, mask, values }, { gamma, lambda }) =>
    gae({ rewards, mask, values: values! }, { gamma, lambda, results: true }),
});
