import type { Tensor } from "./base/aggregate.js";
import { defineLoss, type LossOps, type LossView } from "./base/definition.js";
import * as f from "./base/formula.js";
import { clipBounds, type LossSettings } from "./base/options.js";
import type { PolicyLossInput } from "./base/tensor-ops.js";

type By = "tv" | "kl";

/** What a token's ratio weighs at most, where nobody says. */
const largestRatio = 20;

const boundsOf = (options: LossSettings) =>
  clipBounds({ ...options, clipRatioC: options.clipRatioC ?? largestRatio });

/** The divergence of the token's own probability, all others taken together: KL of two coins. */
function binaryKl({ logprobs, oldLogprobs }: PolicyLossInput, { tf }: LossOps): Tensor {
  const [now, old]: [Tensor, Tensor] = [logprobs.exp(), oldLogprobs.exp()];
  const rest: Tensor = tf.sub<Tensor>(1, old);
  const others: Tensor = rest.add(1e-8).div(tf.sub<Tensor>(1, now).add(1e-8)).log();
  return old.mul<Tensor>(oldLogprobs.sub(logprobs)).add(rest.mul(others));
}

/** Where the step is still allowed: by the change of the probability, or by its KL. */
function allowed(input: PolicyLossInput, options: LossSettings, ops: LossOps, by: By): Tensor {
  const { tf } = ops;
  const { low, high } = boundsOf(options);
  const [up, down] = [high - 1, 1 - low];
  const move: Tensor = input.logprobs.exp().sub<Tensor>(input.oldLogprobs.exp());
  const rising = input.advantages.greater(0);
  if (by === "tv") {
    const within = tf.where(rising, move.lessEqual(up), move.greaterEqual(-down));
    return within;
  }
  const kl = binaryKl(input, ops);
  return tf.where(
    rising,
    kl.lessEqual(up).logicalOr(move.lessEqual(0)),
    kl.lessEqual(down).logicalOr(move.greaterEqual(0)),
  );
}

/** The two tests in symbols. */
function formula(by: By): f.FormulaLine[] {
  const policy = (name: string) => f.sub(f.mi("π"), f.mi(name));
  const [now, old] = [f.symbol("now", policy("θ")), f.symbol("old", policy("old"))];
  const others = (p: string) => f.row(f.mn(1), f.minus, p);
  const divergence = f.symbol("divergence", f.sub(f.mi("D"), f.mi("t")));
  const kl = f.row(
    ...[old, f.mo("("), f.oldLogprob, f.minus, f.logprob, f.mo(")"), f.plus],
    ...[f.mo("("), others(old), f.mo(")"), f.mi("ln"), f.frac(others(old), others(now))],
  );
  const reach = (side: string) => f.symbol("reach", f.sub(f.mi("ε"), f.mi(side)));
  const back = by === "kl" ? "<mtext>, or back</mtext>" : "";
  const weighed = (within: string) => {
    const valid = `<msub><mn>1</mn><mrow>${within}${back}</mrow></msub>`;
    const weight = f.stopped(f.row(f.bounded, f.times, valid));
    return f.math(f.loss, f.equals, f.minus, weight, f.times, f.given, f.times, f.logprob);
  };
  const down = by === "tv" ? f.row(f.minus, divergence) : divergence;
  return [
    f.tokenRatio("boundedLogRatio.return"),
    f.line(
      "Truncation: what a ratio weighs at most",
      f.math(f.bounded, f.equals, f.call("min", f.ratio, f.cap)),
      "dppo.tensors.weight",
    ),
    by === "tv"
      ? f.line(
          "Divergence: how far the token's own probability has moved",
          f.math(divergence, f.equals, now, f.minus, old),
          "allowed.within",
        )
      : f.line(
          "Divergence: KL of the token against all others together",
          f.math(divergence, f.equals, kl),
          "binaryKl.return",
        ),
    ...f.bySign(
      "Loss of the token, as long as it may move",
      "dppo.tensors.losses",
      weighed(f.row(divergence, f.mo("≤"), reach("high"))),
      weighed(f.row(down, f.mo("≤"), reach("low"))),
    ),
  ];
}

/** DPPO: the truncated ratio weighs a token, as long as its probability has not diverged. */
const dppo = <const Name extends string, const Preset extends string>(
  by: By,
  name: Name,
  title: string,
  preset: Preset,
  view: LossView,
) =>
  defineLoss({
    name,
    title,
    aggregation: "token-mean",
    rule: "verl-0.9.1",
    clips: "divergence",
    readsProbability: true,
    readsC: true,
    verl: true,
    presets: { [preset]: { clipRatioC: largestRatio } } as Record<Preset, { clipRatioC: number }>,
    views: { [preset]: view } as Record<Preset, LossView>,

    tensors(input, options, ops) {
      const { tf, detached } = ops;
      const { c } = boundsOf(options);
      const logRatio = ops.boundedLogRatio(input);
      const valid = allowed({ ...input, logprobs: detached(input.logprobs) }, options, ops, by);
      const ratio: Tensor = detached(logRatio).exp();
      const weight: Tensor = tf.minimum(ratio, c).mul(valid.cast("float32"));
      const losses: Tensor = weight.mul(input.advantages).mul<Tensor>(input.logprobs).neg();
      const lower = valid.logicalAnd(ratio.greater(c));
      return {
        loss: ops.total(losses),
        metrics: ops.figures(input, logRatio, { clipped: valid.logicalNot(), lower }),
      };
    },

    token({ ratio, advantage, logprob, oldLogprob }, _, options) {
      const { low, high, c } = boundsOf(options);
      const [now, old] = [Math.exp(logprob), Math.exp(oldLogprob)];
      const move = now - old;
      const others = Math.log((1 - old + 1e-8) / (1 - now + 1e-8));
      const kl = old * (oldLogprob - logprob) + (1 - old) * others;
      const far =
        by === "tv"
          ? advantage > 0
            ? move > high - 1
            : move < low - 1
          : advantage > 0
            ? !(kl <= high - 1 || move <= 0)
            : !(kl <= 1 - low || move >= 0);
      const reach = advantage > 0 ? high - 1 : 1 - low;
      const bounded = Math.min(ratio, c);
      const weight = far ? 0 : bounded;
      return {
        ...{ ratio, used: advantage, weight },
        region: far ? (advantage > 0 ? "above" : "below") : "inside",
        loss: -weight * advantage * logprob,
        terms: { now, old, divergence: by === "tv" ? move : kl, bounded, reach, c },
      };
    },

    formula: () => formula(by),
    gradient: { code: ["dppo.token.weight"] },

    advice: ({ clipRatioC = largestRatio }) =>
      clipRatioC < largestRatio
        ? [
            {
              ...{ id: "dppo-cap", status: "note" },
              found: `${name} cuts a ratio's weight at clip_ratio_c=${clipRatioC}; its own default is ${largestRatio}`,
              fix: `actor_rollout_ref.actor.clip_ratio_c=${largestRatio}`,
            },
          ]
        : [],
  });

/** DPPO by total variation: the probability itself may not move further than the bounds. */
export const dppoTv = dppo("tv", "dppo_tv", "DPPO, total variation", "dppo-tv", {
  label: "DPPO, TV",
  summary: "Not the ratio is bounded but how far the token's own probability moves.",
});

/** DPPO by KL: its divergence may not be larger than the bounds, or the move must be back. */
export const dppoKl = dppo("kl", "dppo_kl", "DPPO, KL", "dppo-kl", {
  label: "DPPO, KL",
  summary: "The same by the KL of the token against all others.",
});
