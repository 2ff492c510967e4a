import { positive } from "../../../common/options/check-options.js";
import { key, unset } from "../../../common/options/option-table.js";
import type { Tensor } from "./base/aggregate.js";
import { defineLoss } from "./base/definition.js";
import * as f from "./base/formula.js";
import { policyLoss } from "./base/options.js";

export const droOptions = {
  /** DRO: the weight of the squared log ratio; it has no default. */
  droBeta: unset(
    positive,
    key(`${policyLoss}.dro_beta`, "dro: weight of the squared log ratio; it needs one"),
  ),
};

/** DRO: the plain policy gradient, held near the old policy by the square of the log ratio. */
export const dro = defineLoss({
  name: "dro",
  title: "DRO",
  aggregation: "token-mean",
  rule: "verl-0.9.1",
  verl: true,
  options: droOptions,
  needs: ["droBeta"],
  views: {
    dro: {
      label: "DRO",
      summary: "The plain policy gradient, and a spring back to where each token was (β = 1 here).",
      settings: { droBeta: 1 },
    },
  },

  tensors(input, { droBeta }, { figures, total }) {
    if (droBeta === undefined || !(droBeta > 0 && droBeta < Infinity)) {
      throw new RangeError(
        `Cannot compute the loss dro: droBeta must be a number above 0, got ${String(droBeta)}`,
      );
    }
    const { logprobs, oldLogprobs, advantages } = input;
    const logRatio: Tensor = logprobs.sub(oldLogprobs);
    const losses: Tensor = logRatio
      .square()
      .mul(droBeta / 2)
      .sub(logprobs.mul(advantages));
    return { loss: total(losses), metrics: figures(input, logRatio) };
  },

  token({ ratio, logRatio, advantage, logprob }, _, { droBeta = NaN }) {
    const hold = droBeta * logRatio;
    return {
      ...{ ratio, region: "inside", used: advantage, weight: 1, hold },
      loss: (droBeta / 2) * logRatio ** 2 - advantage * logprob,
      terms: { droBeta, logRatio },
    };
  },

  formula() {
    const beta = f.symbol("droBeta", f.mi("β"));
    return [
      f.line(
        "Log ratio: how far the token has moved",
        f.math(f.logRatio, f.equals, f.logprob, f.minus, f.oldLogprob),
        "dro.tensors.logRatio",
      ),
      f.tokenLoss(
        f.row(
          ...[f.minus, f.mo("("), f.given, f.times, f.logprob, f.minus, f.frac(beta, f.mn(2))],
          `<msup>${f.row(f.logRatio)}<mn>2</mn></msup>`,
          f.mo(")"),
        ),
        "dro.tensors.losses",
      ),
    ];
  },
  gradient: { code: ["dro.token.hold"], hold: true },
});
