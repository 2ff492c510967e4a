import type { LossName } from "../../../learn/loss/loss-names.js";
import { codeOf } from "../code-lines.js";
import type { FormulaLine, ObjectiveSettings } from "../payload.js";
import { dppoLines } from "./dppo-lines.js";
import { bySign, line, tokenLoss } from "./lines.js";
import {
  candidates,
  clipLine,
  dualLines,
  meanRatio,
  tokenRatio,
  vanillaLines,
} from "./ppo-lines.js";
import {
  bounded,
  call,
  cap,
  cases,
  chosen,
  down,
  equals,
  frac,
  given,
  high,
  log,
  logprob,
  logRatio,
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
  up,
  used,
} from "./symbols.js";

const covariance = symbol("covariance", sub(mi("cov"), mi("t")));
const covarianceLine = (...names: Parameters<typeof codeOf>) =>
  line(
    "Covariance: do advantage and probability go together, more than on other tokens?",
    math(
      ...[covariance, equals, mo("("), given, minus, meanOver("batch", mi("A")), mo(")"), times],
      ...[mo("("), logprob, minus, meanOver("batch", log("θ")), mo(")")],
    ),
    codeOf(...names),
  );

/** The lines of every loss between its advantage and its gradient. */
export const lossLines: Readonly<Record<LossName, (settings: ObjectiveSettings) => FormulaLine[]>> =
  {
    vanilla: vanillaLines,
    gspo: () => [
      meanRatio("row", codeOf("rowRatio")),
      clipLine(codeOf("rowClip")),
      tokenLoss(candidates(given), "rowLoss"),
    ],
    cispo: () => [
      tokenRatio(...codeOf("boundedLogRatio")),
      line(
        "Weight: the clipped ratio, without a gradient of its own",
        math(bounded, equals, call("clip", ratio, low, high)),
        codeOf("cispoWeight"),
      ),
      tokenLoss(row(minus, stopped(bounded), times, given, times, logprob), "cispoLoss"),
    ],
    sapo: () => {
      const tau = symbol("tau", mi("τ"));
      const gate = symbol("gate", call("σ", row(tau, mo("("), ratio, minus, mn(1), mo(")"))));
      return [
        tokenRatio(...codeOf("boundedLogRatio")),
        line(
          "Gate: it fades on either side of 1, with τ by the sign of the advantage",
          math(gate),
          codeOf("sapoGate"),
        ),
        tokenLoss(row(minus, frac(mn(4), tau), times, gate, times, given), "sapoLoss"),
      ];
    },
    clip_cov: () => [
      tokenRatio(...codeOf("clipCovRatio")),
      clipLine(codeOf("clipCovClip")),
      covarianceLine("clipCovCovariance"),
      line(
        "Chosen: some unclipped tokens of large covariance, drawn at random",
        math(chosen),
        codeOf("clipCovChosen"),
      ),
      tokenLoss(
        row(candidates(given), times, mo("("), mn(1), minus, chosen, mo(")")),
        "clipCovLoss",
      ),
    ],
    kl_cov: () => {
      const k = symbol("klCovCoefficient", mi("k"));
      return [
        tokenRatio(...codeOf("klCovLoss")),
        covarianceLine("klCovCovariance"),
        line("Chosen: the tokens of greatest covariance", math(chosen), codeOf("klCovChosen")),
        tokenLoss(
          row(minus, ratio, times, given, plus, k, mo("|"), logRatio, mo("|"), times, chosen),
          "klCovHeld",
          "klCovLoss",
        ),
      ];
    },
    geo_mean: () => {
      const a = symbol("used", "<mover><mi>A</mi><mo>¯</mo></mover>");
      const kept = symbol("bounded", sub(mi("c"), mi("t")));
      const within = call("clip", logRatio, down, up);
      return [
        ...bySign(
          "Log ratio, clipped where that is no gain",
          codeOf("geoMeanClip"),
          math(kept, equals, call("min", logRatio, within)),
          math(kept, equals, call("max", logRatio, within)),
        ),
        line(
          "Ratio: the geometric mean over the row",
          math(ratio, equals, call("exp", meanOver("row", sub(mi("c"), mi("t"))))),
          codeOf("geoMeanRow"),
        ),
        tokenLoss(row(minus, a, times, ratio), "geoMeanLoss"),
      ];
    },
    gpg: () => [tokenLoss(row(minus, given, times, logprob), "gpgLoss")],
    dro: () => {
      const beta = symbol("droBeta", mi("β"));
      return [
        line(
          "Log ratio: how far the token has moved",
          math(logRatio, equals, logprob, minus, oldLogprob),
          codeOf("droRatio"),
        ),
        tokenLoss(
          row(
            ...[minus, mo("("), given, times, logprob, minus, frac(beta, mn(2))],
            `<msup>${row(logRatio)}<mn>2</mn></msup>`,
            mo(")"),
          ),
          "droLoss",
        ),
      ];
    },
    dppo_tv: () => dppoLines("tv"),
    dppo_kl: () => dppoLines("kl"),
    ce_gppo: () => {
      const share = (beta: string, bound: string) => row(beta, mo("("), bound, mo(")"));
      const below = share(symbol("gppoLow", sub(mi("β"), mn(1))), low);
      const above = share(symbol("gppoHigh", sub(mi("β"), mn(2))), high);
      const pulled = row(minus, frac(ratio, stopped(ratio)), times, bounded, times, given);
      const capped = call("min", pulled, row(minus, cap, times, given));
      const r = sub(mi("r"), mi("t"));
      return [
        tokenRatio(...codeOf("gppoRatio")),
        ...bySign(
          "Bound: beyond it a share of its gradient stays",
          codeOf("gppoWeight"),
          math(bounded, equals, cases(above, row(r, mo("&gt;"), high), ratio)),
          math(bounded, equals, cases(below, row(r, mo("&lt;"), low), ratio)),
        ),
        { ...tokenLoss(pulled, "gppoPlain"), when: "positive" },
        { ...tokenLoss(capped, "gppoPlain", "gppoLoss"), when: "negative" },
      ];
    },
    gspo_turn: () => [
      meanRatio("turn", codeOf("gspoTurnRatio")),
      clipLine(codeOf("gspoTurnClip")),
      tokenLoss(candidates(given), "gspoTurnLoss"),
    ],
    turn: () => [
      meanRatio("turn", codeOf("turnMeans", "turnRatio")),
      clipLine(codeOf("turnClip")),
      ...dualLines(given, codeOf("turnWorse"), codeOf("turnLoss")),
    ],
    future_kl: () => {
      const future = symbol("future", sub(mi("f"), mi("t")));
      const weight = symbol("futureWeight", mi("b"));
      const sum = row(
        "<munder><mo>∑</mo><mrow><mi>k</mi><mo>≥</mo><mi>t</mi></mrow></munder>",
        "<msup><mi>g</mi><mrow><mi>k</mi><mo>−</mo><mi>t</mi></mrow></msup>",
        row(mi("ln"), sub(mi("r"), mi("k"))),
      );
      return [
        line(
          "Future: how much likelier what follows the token has become, clipped",
          math(future, equals, call("clip", call("exp", sum))),
          codeOf("futureSum", "futureClip"),
        ),
        line(
          "Advantage as used: at a factor of 1 about twice the one given",
          math(used, equals, given, mo("("), mn(1), plus, weight, future, mo(")")),
          codeOf("futureUsed"),
        ),
        tokenRatio(...codeOf("boundedLogRatio")),
        clipLine(codeOf("futureBounds")),
        ...dualLines(used, codeOf("futureWorse"), codeOf("futureLoss")),
      ];
    },
  };
