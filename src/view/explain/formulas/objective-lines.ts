import * as f from "../../../learn/loss/formula.js";
import type { LossAggregation } from "../../../learn/loss/options.js";
import {
  aggregationOf,
  lossDefinitions,
  type LossName,
  lossNameOf,
} from "../../../learn/loss/registry.js";
import type { LossDefinition } from "../../../learn/loss/definition.js";
import type { ObjectiveSettings } from "../payload.js";

/** The lines of an objective from the ratio to the gradient. */
export function objectiveLines(settings: ObjectiveSettings): f.FormulaLine[] {
  const name = lossNameOf(settings);
  const definition: LossDefinition = lossDefinitions[name];
  return [
    ...definition.formula(settings),
    gradientLine(definition, settings),
    totalLine(name, settings),
  ];
}

function gradientLine({ gradient }: LossDefinition, settings: ObjectiveSettings): f.FormulaLine {
  const advantage = gradient.ownAdvantage?.(settings) ? f.used : f.given;
  const pulled = gradient.hold ? [f.plus, f.symbol("hold", f.sub(f.mi("h"), f.mi("t")))] : [];
  return f.line(
    "Gradient: what the loss leaves of it",
    f.math(
      ...[f.frac(f.row(f.mi("∂"), f.loss), f.row(f.mi("∂"), f.log("θ"))), f.equals, f.minus],
      ...[f.symbol("weight", f.sub(f.mi("w"), f.mi("t"))), f.times, advantage],
      ...[...pulled, f.equals, f.symbol("slope", f.sub(f.mi("g"), f.mi("t")))],
    ),
    ...gradient.code,
  );
}

/** Why a mode counts tokens as it does, what it divides by, and the lines that do it in either rule. */
const sums: Record<LossAggregation, [why: string, by: string, older: string, newer: string]> = {
  "token-mean": [
    "every trained token of the batch counts the same",
    "tokens",
    "maskedTensorMean.return",
    "newer.token-mean.return",
  ],
  "token-sum": ["every trained token counts as it is", "one", "tokenSum.return", "tokenSum.return"],
  "seq-mean-token-sum": [
    "every row counts its tokens' sum",
    "rows",
    "older.seq-mean-token-sum.return",
    "meanOfFilled.return",
  ],
  "seq-mean-token-mean": [
    "every row counts the same, however long",
    "rows · its tokens",
    "older.seq-mean-token-mean.return",
    "meanOfFilled.return",
  ],
  "seq-mean-token-sum-norm": [
    "one constant length for all rows",
    "longest",
    "older.seq-mean-token-sum-norm.return",
    "newer.seq-mean-token-sum-norm.return",
  ],
};

function totalLine(name: LossName, settings: ObjectiveSettings): f.FormulaLine {
  const { mode, rule } = aggregationOf(settings);
  const [why, what, older, newer] = sums[mode];
  const scaled = rule !== "older" && mode === "seq-mean-token-sum-norm";
  const under = scaled ? "rows · longest" : what;
  const share = f.symbol(
    "share",
    mode === "token-sum" ? f.mn(1) : f.frac(f.mn(1), `<mtext>${under}</mtext>`),
  );
  const kl = f.symbol("kl", f.sub(f.mi("KL"), f.mi("t")));
  const penalty = settings.klLossCoefficient
    ? [f.plus, f.symbol("beta", f.mi("β")), f.times, kl]
    : [];
  const sum = name === "geo_mean" ? "geoMean.tensors.loss" : rule === "older" ? older : newer;
  return f.line(
    `Share in the loss of the batch: ${why}`,
    f.math(
      ...[f.symbol("part", f.sub(f.mi("L"), f.mi("t"))), f.equals, share, f.times],
      ...(penalty.length > 0 ? [f.mo("("), f.loss, ...penalty, f.mo(")")] : [f.loss]),
    ),
    ...[sum, ...(penalty.length > 0 ? ["actorLoss.loss"] : [])],
  );
}
