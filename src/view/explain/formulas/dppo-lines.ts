import { codeOf } from "../code-lines.js";
import type { FormulaLine } from "../payload.js";
import { bySign, line } from "./lines.js";
import { tokenRatio } from "./ppo-lines.js";
import {
  bounded,
  call,
  cap,
  equals,
  frac,
  given,
  logprob,
  loss,
  math,
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
} from "./symbols.js";

/** DPPO's two tests. */
export function dppoLines(by: "tv" | "kl"): FormulaLine[] {
  const [now, old] = [symbol("now", sub(mi("π"), mi("θ"))), symbol("old", sub(mi("π"), mi("old")))];
  const others = (p: string) => row(mn(1), minus, p);
  const divergence = symbol("divergence", sub(mi("D"), mi("t")));
  const kl = row(
    ...[old, mo("("), oldLogprob, minus, logprob, mo(")"), plus, mo("("), others(old), mo(")")],
    ...[mi("ln"), frac(others(old), others(now))],
  );
  const reach = (side: string) => symbol("reach", sub(mi("ε"), mi(side)));
  const back = by === "kl" ? "<mtext>, or back</mtext>" : "";
  const weighed = (allowed: string) => {
    const valid = `<msub><mn>1</mn><mrow>${allowed}${back}</mrow></msub>`;
    return math(
      ...[loss, equals, minus, stopped(row(bounded, times, valid)), times, given, times, logprob],
    );
  };
  return [
    tokenRatio(...codeOf("boundedLogRatio")),
    line(
      "Truncation: what a ratio weighs at most",
      math(bounded, equals, call("min", ratio, cap)),
      codeOf("dppoWeight"),
    ),
    by === "tv"
      ? line(
          "Divergence: how far the token's own probability has moved",
          math(divergence, equals, now, minus, old),
          codeOf("dppoTv"),
        )
      : line(
          "Divergence: KL of the token against all others together",
          math(divergence, equals, kl),
          codeOf("dppoKl"),
        ),
    ...bySign(
      "Loss of the token, as long as it may move",
      codeOf("dppoLoss"),
      weighed(row(divergence, mo("≤"), reach("high"))),
      weighed(
        by === "tv"
          ? row(minus, divergence, mo("≤"), reach("low"))
          : row(divergence, mo("≤"), reach("low")),
      ),
    ),
  ];
}
