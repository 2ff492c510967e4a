import type { Tensor } from "./base/aggregate.js";
import { defineLoss } from "./base/definition.js";
import * as f from "./base/formula.js";

/** GPG: the plain policy gradient, without a ratio: every token has the weight 1. */
export const gpg = defineLoss({
  name: "gpg",
  title: "GPG",
  aggregation: "token-mean",
  rule: "verl-0.9.1",
  verl: true,
  presets: { gpg: {} },
  views: {
    gpg: {
      label: "GPG",
      summary: "The plain policy gradient: no ratio, no clip.",
      estimator: "gpg",
    },
  },

  tensors(input, _, { figures, total }) {
    const { logprobs, oldLogprobs, advantages } = input;
    const losses: Tensor = logprobs.mul(advantages).neg();
    return { loss: total(losses), metrics: figures(input, logprobs.sub(oldLogprobs)) };
  },

  token({ ratio, advantage, logprob }) {
    const loss = -advantage * logprob;
    return { ratio, region: "inside", used: advantage, weight: 1, loss };
  },

  formula: () => [f.tokenLoss(f.row(f.minus, f.given, f.times, f.logprob), "gpg.tensors.losses")],
  gradient: { code: ["gpg.token.return"] },
});
