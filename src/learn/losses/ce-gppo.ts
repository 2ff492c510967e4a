import { notNegative } from "../../../common/options/check-options.js";
import { key, option } from "../../../common/options/option-table.js";
import type { Tensor } from "./base/aggregate.js";
import { defineLoss } from "./base/definition.js";
import * as f from "./base/formula.js";
import { clipBounds, policyLoss } from "./base/options.js";
import type { ClipRegion } from "./base/token-rule.js";

export const ceGppoOptions = {
  /** CE-GPPO: how much gradient a token below the lower bound keeps (`beta1`). Default: 0.25. */
  gppoLow: option(
    notNegative,
    0.25,
    key(`${policyLoss}.beta1`, "ce_gppo: gradient kept below the lower bound"),
  ),
  /** CE-GPPO: how much one above the upper bound keeps (`beta2`). Default: 1. */
  gppoHigh: option(
    notNegative,
    1,
    key(`${policyLoss}.beta2`, "ce_gppo: gradient kept above the upper bound"),
  ),
};

/** CE-GPPO: beyond the bounds a token keeps a share of the bound's own gradient, on either side. */
export const ceGppo = defineLoss({
  name: "ce_gppo",
  title: "CE-GPPO",
  aggregation: "token-mean",
  rule: "older",
  clips: "ratio",
  readsC: true,
  options: ceGppoOptions,
  presets: {
    gppo: { gppoLow: 1, gppoHigh: 1, clipRatioC: 10 },
    // The 1.5B model's script; the function and its file have 0.25, the 7B model's script 0.75.
    "ce-gppo": { gppoLow: 0.5, gppoHigh: 1, clipRatioC: 10 },
  },
  views: {
    "ce-gppo": {
      label: "CE-GPPO",
      summary: "Beyond the bounds a token keeps a share of the bound's gradient, on either side.",
    },
  },

  tensors(input, options, { tf, detached, either, evenMinimum, figures, total }) {
    const { low, high, c } = clipBounds(options);
    const { gppoLow, gppoHigh } = options;
    const { logprobs, oldLogprobs, advantages } = input;
    const logRatio: Tensor = logprobs.sub(oldLogprobs);
    const ratio: Tensor = logRatio.exp();
    const below = ratio.less(low).logicalAnd(advantages.less(0));
    const above = ratio.greater(high).logicalAnd(advantages.greater(0));
    // The bound's value with the gradient of the token's logarithm: r / sg[r], times the bound.
    const kept = (weight: number): Tensor =>
      ratio.div<Tensor>(detached(ratio)).mul(detached(tf.onesLike(ratio).mul(weight)));
    const weight = either(below, kept(gppoLow * low), either(above, kept(gppoHigh * high), ratio));
    const plain: Tensor = weight.mul(advantages).neg();
    const cap: Tensor = advantages.mul(-c);
    const losses = either(advantages.less(0), evenMinimum(plain, cap), plain);
    return {
      loss: total(losses),
      metrics: figures(input, logRatio, {
        clipped: below.logicalOr(above),
        lower: plain.greater(cap).logicalAnd(advantages.less(0)),
      }),
    };
  },

  // Beyond the dual clip no gradient stays.
  token({ ratio, advantage }, _, options) {
    const { low, high, c } = clipBounds(options);
    const { gppoLow, gppoHigh } = options;
    const place: [ClipRegion, number] =
      ratio < low && advantage < 0
        ? ["below", gppoLow * low]
        : ratio > high && advantage > 0
          ? ["above", gppoHigh * high]
          : ["inside", ratio];
    const [region, bounded] = place;
    const outcome = { ratio, used: advantage, terms: { bounded, gppoLow, gppoHigh } };
    return advantage < 0 && bounded > c
      ? { ...outcome, region: "dual", weight: 0, loss: -c * advantage }
      : { ...outcome, region, weight: bounded, loss: -bounded * advantage };
  },

  formula() {
    const share = (beta: string, bound: string) => f.row(beta, f.mo("("), bound, f.mo(")"));
    const below = share(f.symbol("gppoLow", f.sub(f.mi("β"), f.mn(1))), f.low);
    const above = share(f.symbol("gppoHigh", f.sub(f.mi("β"), f.mn(2))), f.high);
    const moving = f.frac(f.ratio, f.stopped(f.ratio));
    const pulled = f.row(f.minus, moving, f.times, f.bounded, f.times, f.given);
    const capped = f.call("min", pulled, f.row(f.minus, f.cap, f.times, f.given));
    const r = f.sub(f.mi("r"), f.mi("t"));
    return [
      f.tokenRatio("ceGppo.tensors.ratio"),
      ...f.bySign(
        "Bound: beyond it a share of its gradient stays",
        "ceGppo.tensors.weight",
        f.math(f.bounded, f.equals, f.cases(above, f.row(r, f.mo("&gt;"), f.high), f.ratio)),
        f.math(f.bounded, f.equals, f.cases(below, f.row(r, f.mo("&lt;"), f.low), f.ratio)),
      ),
      { ...f.tokenLoss(pulled, "ceGppo.tensors.plain"), when: "positive" },
      {
        ...f.tokenLoss(capped, "ceGppo.tensors.plain", "ceGppo.tensors.losses"),
        when: "negative",
      },
    ];
  },
  gradient: { code: ["ceGppo.token.place"] },
});
