import { aggregationOf } from "../../../learn/loss/aggregation-choice.js";
import type { AggregationRule, LossAggregation } from "../../../learn/loss/aggregation-modes.js";
import { type LossName, lossNameOf } from "../../../learn/loss/loss-names.js";
import { type codeLines, codeOf } from "../code-lines.js";
import type { FormulaLine, ObjectiveSettings } from "../payload.js";
import { lossLines } from "./loss-lines.js";
import {
  equals,
  frac,
  given,
  log,
  loss,
  math,
  mi,
  minus,
  mn,
  mo,
  plus,
  row,
  sub,
  symbol,
  times,
  used,
} from "./symbols.js";

/** The lines of an objective from the ratio to the gradient. */
export function objectiveLines(settings: ObjectiveSettings): FormulaLine[] {
  const name = lossNameOf(settings);
  return [...lossLines[name](settings), gradientLine(settings), totalLine(settings)];
}

function gradientLine(settings: ObjectiveSettings): FormulaLine {
  const name = lossNameOf(settings);
  const other =
    name === "future_kl" ||
    name === "geo_mean" ||
    (name === "vanilla" && settings.entropyBalancedAdvantage === true);
  const pulled = ["dro", "kl_cov", "turn"].includes(name)
    ? [plus, symbol("hold", sub(mi("h"), mi("t")))]
    : [];
  return {
    title: "Gradient: what the loss leaves of it",
    mathml: math(
      ...[frac(row(mi("∂"), loss), row(mi("∂"), log("θ"))), equals, minus],
      ...[symbol("weight", sub(mi("w"), mi("t"))), times, other ? used : given],
      ...[...pulled, equals, symbol("slope", sub(mi("g"), mi("t")))],
    ),
    code: codeOf(...gradientCode[name]),
  };
}

/** Where the library says what is left of a gradient. */
const gradientCode: Readonly<Record<LossName, readonly (keyof typeof codeLines)[]>> = {
  vanilla: ["insideWeight", "keptWeight"],
  gspo: ["insideWeight"],
  cispo: ["cispoKept"],
  sapo: ["sapoKept"],
  clip_cov: ["clipCovKept"],
  kl_cov: ["klCovKept"],
  geo_mean: ["geoMeanKept"],
  gpg: ["gpgKept"],
  dro: ["droKept"],
  dppo_tv: ["dppoKept"],
  dppo_kl: ["dppoKept"],
  ce_gppo: ["gppoKept"],
  gspo_turn: ["insideWeight"],
  turn: ["turnKept"],
  future_kl: ["insideWeight", "futureKept"],
};

const sums: Record<LossAggregation, [string, string]> = {
  "token-mean": ["every trained token of the batch counts the same", "tokens"],
  "token-sum": ["every trained token counts as it is", "one"],
  "seq-mean-token-sum": ["every row counts its tokens' sum", "rows"],
  "seq-mean-token-mean": ["every row counts the same, however long", "rows · its tokens"],
  "seq-mean-token-sum-norm": ["one constant length for all rows", "longest"],
};

const newer: Record<LossAggregation, keyof typeof codeLines> = {
  "token-mean": "newer token-mean",
  "token-sum": "token-sum",
  "seq-mean-token-sum": "newer rows",
  "seq-mean-token-mean": "newer rows",
  "seq-mean-token-sum-norm": "newer norm",
};

function sumCode(loss: LossName, mode: LossAggregation, rule: AggregationRule) {
  if (loss === "geo_mean") return codeOf("geoMeanTotal");
  return codeOf(rule === "older" ? mode : newer[mode]);
}

function totalLine(settings: ObjectiveSettings): FormulaLine {
  const { mode, rule } = aggregationOf(settings);
  const [why, what] = sums[mode];
  const scaled = rule !== "older" && mode === "seq-mean-token-sum-norm";
  const under = scaled ? "rows · longest" : what;
  const share = symbol(
    "share",
    mode === "token-sum" ? mn(1) : frac(mn(1), `<mtext>${under}</mtext>`),
  );
  const kl = settings.klLossCoefficient
    ? [plus, symbol("beta", mi("β")), times, symbol("kl", sub(mi("KL"), mi("t")))]
    : [];
  return {
    title: `Share in the loss of the batch: ${why}`,
    mathml: math(
      ...[symbol("part", sub(mi("L"), mi("t"))), equals, share, times],
      ...(kl.length > 0 ? [mo("("), loss, ...kl, mo(")")] : [loss]),
    ),
    code: [...sumCode(lossNameOf(settings), mode, rule), ...(kl.length > 0 ? codeOf("kl") : [])],
  };
}
