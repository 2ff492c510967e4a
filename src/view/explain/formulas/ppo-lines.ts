import { codeOf } from "../code-lines.js";
import type { CodeLine, FormulaLine, ObjectiveSettings } from "../payload.js";
import {
  bounded,
  call,
  cap,
  equals,
  frac,
  given,
  high,
  log,
  logprob,
  loss,
  low,
  math,
  meanOver,
  mi,
  minus,
  mn,
  mo,
  oldLogprob,
  plus,
  ratio,
  row,
  stopped,
  sub,
  symbol,
  times,
  used,
} from "./symbols.js";

/** How much likelier the token has become. */
export function tokenRatio(...code: CodeLine[]): FormulaLine {
  return {
    title: "Ratio: how much likelier the token has become",
    mathml: math(ratio, equals, call("exp", row(logprob, minus, oldLogprob))),
    code: code.length > 0 ? code : codeOf("ratio"),
  };
}

/** One ratio for a row or a turn: the geometric mean of its tokens'. */
export function meanRatio(what: "row" | "turn", code: CodeLine[]): FormulaLine {
  const name = what === "row" ? "rowLogRatio" : "turnLogRatio";
  const average = symbol(name, meanOver(what, log("θ"), minus, log("old")));
  return {
    title: `Ratio: one for the whole ${what}, the geometric mean of its tokens'`,
    mathml: math(ratio, equals, call("exp", average)),
    code,
  };
}

/** A ratio kept between its bounds. */
export function clipLine(code: CodeLine[]): FormulaLine {
  return {
    title: "Clipping: how far one step may move the probability",
    mathml: math(bounded, equals, call("clip", ratio, low, high)),
    code,
  };
}

/** The larger of the two candidates. */
export const candidates = (a: string): string =>
  call("max", row(minus, ratio, times, a), row(minus, bounded, times, a));

/** PPO's loss of a token, and the same where the dual clip bounds it. */
export function dualLines(a: string, code: CodeLine[], dualCode: CodeLine[]): FormulaLine[] {
  const dual = row(
    ...[mi("min"), mo("("), minus, cap, times, a, mo(",")],
    ...[candidates(a), mo(")")],
  );
  return [
    {
      title: "Loss of the token",
      mathml: math(loss, equals, candidates(a)),
      code,
      when: "positive",
    },
    {
      title: "Loss of the token: with a negative advantage the dual clip bounds it",
      mathml: math(loss, equals, dual),
      code: [...code, ...dualCode],
      when: "negative",
    },
  ];
}

/** PPO with dual clip, and AEPO's two switches. */
export function vanillaLines(settings: ObjectiveSettings): FormulaLine[] {
  const aware = settings.entropyBalancedAdvantage === true;
  const lines: FormulaLine[] = [];
  if (aware) {
    const entropy = symbol("entropy", sub(mi("H"), mi("t")));
    const centred = row(entropy, minus, symbol("entropyMean", call("mean", mi("H"))));
    const z = frac(centred, symbol("entropyDeviation", call("sd", mi("H"))));
    lines.push({
      title: "Entropy-aware advantage: uncertain tokens count for more",
      mathml: math(used, equals, given, mo("("), mn(1), plus, mn(0.2), z, mo(")")),
      code: codeOf("centred", "entropyAware"),
    });
  }
  lines.push(tokenRatio());
  lines.push(settings.entropyBalancedClipping === true ? balancedClip() : clipLine(codeOf("clip")));
  const a = aware ? used : given;
  return [...lines, ...dualLines(a, codeOf("unclipped", "clipped", "worse"), codeOf("dual"))];
}

function balancedClip(): FormulaLine {
  const bound = row(frac(ratio, stopped(ratio)), times, mo("("), high, mo(")"));
  return {
    title: "Entropy-balanced clipping: the upper bound keeps a gradient",
    mathml: math(
      ...[bounded, equals],
      row(mi("min"), mo("("), call("max", ratio, low), mo(","), bound, mo(")")),
    ),
    code: codeOf("balancedClip"),
  };
}
