import { oneOf, positive } from "../../../../common/options/check-options.js";
import { key, option, unset } from "../../../../common/options/option-table.js";
import type { Tensor } from "../base/aggregate.js";
import { defineLoss, type LossOps, type LossView } from "../base/definition.js";
import * as f from "../base/formula.js";
import { clipBounds, type LossSettings, policyLoss } from "../base/options.js";
import type { PolicyLossInput } from "../base/tensor-ops.js";
import { clippedOutcome, perRow, rowLogRatio, type TokenOutcome } from "../base/token-rule.js";

export const twoSidedOptions = {
  /** Two-sided clip: what a ratio counts at most where the clip does not bound it. Default: none. */
  ratioDelta: unset(
    positive,
    key(
      `${policyLoss}.ratio_delta`,
      "two_sided, luspo: bounds the unclipped ratio; none: no bound",
    ),
  ),
  /** Two-sided clip: one ratio for each token, or one for the trajectory, the geometric mean. Default: `token`. */
  ratioOver: option(
    oneOf(["token", "sequence"]),
    "token",
    key(`${policyLoss}.ratio_over`, "two_sided: a ratio for each token, or one for the trajectory"),
  ),
};

type Settings = LossSettings & { ratioDelta?: number };

/** The ratio of each token, or forward that of its trajectory: backward it moves with the token's log-probability. */
function ratios(input: PolicyLossInput, whole: boolean, ops: LossOps): Tensor {
  const { tf, detached } = ops;
  const { logprobs, mask } = input;
  const logRatio = ops.boundedLogRatio(input);
  if (!whole) return logRatio.exp();
  const counts: Tensor = tf.maximum(mask.sum(-1, true), 1);
  const mean: Tensor = detached(logRatio).mul(mask).sum<Tensor>(-1, true).div<Tensor>(counts);
  return logprobs.sub<Tensor>(detached(logprobs)).add<Tensor>(mean).exp();
}

/** TRL's clip of one ratio. */
function outcomeOf(ratio: number, advantage: number, options: Settings): TokenOutcome {
  const { ratioDelta = Infinity } = options;
  const outcome = clippedOutcome(ratio, advantage, options);
  if (advantage >= 0 || ratio <= ratioDelta) return outcome;
  return { ...outcome, region: "dual", weight: 0, loss: -ratioDelta * advantage };
}

const made = <const Name extends string>(
  name: Name,
  title: string,
  whole: boolean | undefined,
  view: LossView,
) =>
  defineLoss({
    name,
    title,
    ...(whole
      ? { aggregation: "seq-mean-token-sum", ownAggregation: true, ratioOf: "row" }
      : { aggregation: "seq-mean-token-mean" }),
    rule: "trl",
    clips: "ratio",
    options: twoSidedOptions,
    presets: { [name]: {} } as Record<Name, object>,
    views: { [name]: view } as Record<Name, LossView>,

    tensors(input, options, ops) {
      const { low, high } = clipBounds(options);
      const { ratioDelta, ratioOver } = options;
      const { advantages } = input;
      const ratio = ratios(input, whole ?? ratioOver === "sequence", ops);
      const bounded: Tensor =
        ratioDelta === undefined
          ? ratio
          : ops.evenMinimum(ratio, ops.tf.onesLike(ratio).mul(ratioDelta));
      const unclipped: Tensor = bounded.mul(advantages).neg();
      const clipped: Tensor = ops.clip(ratio, low, high).mul(advantages).neg();
      return {
        loss: ops.total(ops.evenMaximum(unclipped, clipped)),
        metrics: ops.figures(input, ops.boundedLogRatio(input), {
          clipped: clipped.greater(unclipped),
          lower: bounded.less(ratio),
        }),
      };
    },

    share(rows, { ratioOver }) {
      if (!(whole ?? ratioOver === "sequence")) return () => ({});
      const log = perRow(rows, rowLogRatio);
      return (r) => ({ rowLogRatio: log(r), ratio: Math.exp(log(r)) });
    },
    token: ({ ratio: own, advantage }, { ratio = own }, options) =>
      outcomeOf(ratio, advantage, options),

    formula({ ratioDelta }) {
      const delta = f.symbol("ratioDelta", f.mi("δ"));
      const first = ratioDelta === undefined ? f.ratio : f.call("min", f.ratio, delta);
      return [
        whole ? f.meanRatio("row", "ratios.mean") : f.tokenRatio("ratios.logRatio"),
        f.clipLine("made.tensors.clipped"),
        f.tokenLoss(
          f.call(
            "max",
            f.row(f.minus, first, f.times, f.given),
            f.row(f.minus, f.bounded, f.times, f.given),
          ),
          ...["made.tensors.bounded", "made.tensors.unclipped", "made.tensors.loss"],
        ),
      ];
    },
    gradient: { code: ["clippedOutcome.return", "outcomeOf.return"] },
  });

/** TRL's clip: no dual clip; with `ratioDelta` the unclipped ratio is bounded too. */
export const twoSided = made("two_sided", "TRL's clip", undefined, {
  label: "TRL's clip",
  summary: "PPO's clip without the dual one; delta bounds what a negative advantage pushes.",
});

/** LUSPO: one ratio for the trajectory, and the sum over its tokens, so that long ones count by their length. */
export const luspo = made("luspo", "LUSPO", true, {
  label: "LUSPO",
  summary: "GSPO's ratio with a sum over a trajectory's tokens in place of their mean.",
});
