import type { LossAggregation } from "../../learn/loss/aggregation-modes.js";
import { aggregationOf } from "../../learn/loss/aggregation-choice.js";
import { codeLines, codeOf } from "./code-lines.js";
import { call, frac, math, mi, mn, mo, row, sub, symbol } from "./mathml.js";
import type { FormulaLine, ObjectiveSettings } from "./payload.js";

const minus = mo("−");
const equals = mo("=");
const times = mo("·");
const t = mi("t");
const log = (of: string) => row(mi("ln"), `<mspace width="0.17em"/>`, sub(mi("π"), mi(of)));

const ratio = symbol("ratio", sub(mi("r"), t));
const bounded = symbol("bounded", sub("<mover><mi>r</mi><mo>¯</mo></mover>", t));
const given = symbol("advantage", sub(mi("A"), t));
const low = symbol("low", row(mn(1), minus, sub(mi("ε"), mi("low"))));
const high = symbol("high", row(mn(1), mo("+"), sub(mi("ε"), mi("high"))));
const loss = symbol("loss", sub(mi("ℓ"), t));
const reward = symbol("reward", mi("R"));
const mean = symbol("groupMean", call("mean", mi("R")));
const size = symbol("groupSize", mi("k"));

/** How an estimator makes an advantage of a row's score. */
export function advantageLine(
  estimator: string,
  { normalised = true, hard = false }: { normalised?: boolean; hard?: boolean } = {},
): FormulaLine {
  const deviation = symbol("groupDeviation", call("sd", mi("R")));
  const known: Record<string, string> = {
    grpo: normalised
      ? frac(
          row(reward, minus, mean),
          row(deviation, mo("+"), "<msup><mn>10</mn><mn>-6</mn></msup>"),
        )
      : row(reward, minus, mean),
    rloo: row(frac(size, row(size, minus, mn(1))), mo("("), reward, minus, mean, mo(")")),
  };
  const formula = known[estimator] ?? call(estimator.replace(/_/g, " "), reward);
  const code = estimator in codeLines ? codeOf(estimator as keyof typeof codeLines) : [];
  if (!hard) {
    const title = "Advantage: how much better the row did than its group";
    return { title, mathml: math(given, equals, formula), code: [...code, ...codeOf("spread")] };
  }
  const average = row(
    frac(mn(1), symbol("sharing", mi("m"))),
    "<munder><mo>∑</mo><mtext>rows that share it</mtext></munder>",
    formula,
  );
  return {
    title: "Advantage: the mean over the rows that share the token",
    mathml: math(given, equals, average),
    code: [...code, ...codeOf("hard")],
  };
}

/** The lines of an objective from the ratio to the gradient. */
export function objectiveLines(settings: ObjectiveSettings): FormulaLine[] {
  const gspo = settings.ratio === "gspo";
  const aware = settings.entropyBalancedAdvantage === true && !gspo;
  const balanced = settings.entropyBalancedClipping === true && !gspo;
  const used = aware ? symbol("used", "<msubsup><mi>A</mi><mi>t</mi><mo>′</mo></msubsup>") : given;
  const lines: FormulaLine[] = [];
  if (aware) {
    const centred = row(
      symbol("entropy", sub(mi("H"), t)),
      minus,
      symbol("entropyMean", call("mean", mi("H"))),
    );
    const z = frac(centred, symbol("entropyDeviation", call("sd", mi("H"))));
    lines.push({
      title: "Entropy-aware advantage: uncertain tokens count for more",
      mathml: math(used, equals, given, mo("("), mn(1), mo("+"), mn(0.2), z, mo(")")),
      code: codeOf("centred", "entropyAware"),
    });
  }
  lines.push(gspo ? rowRatio() : tokenRatio());
  const division = frac(ratio, call("sg", ratio));
  lines.push(
    balanced
      ? {
          title: "Entropy-balanced clipping: the upper bound keeps a gradient",
          mathml: math(
            ...[bounded, equals],
            row(
              mi("min"),
              mo("("),
              call("max", ratio, low),
              mo(","),
              division,
              ...[times, mo("("), high, mo(")"), mo(")")],
            ),
          ),
          code: codeOf("balancedClip"),
        }
      : {
          title: "Clipping: how far one step may move the probability",
          mathml: math(bounded, equals, call("clip", ratio, low, high)),
          code: codeOf("clip"),
        },
  );
  const candidates = call("max", row(minus, ratio, times, used), row(minus, bounded, times, used));
  const plain = { title: "Loss of the token", mathml: math(loss, equals, candidates) };
  if (gspo) lines.push({ ...plain, code: codeOf("rowLoss") });
  else {
    const code = codeOf("unclipped", "clipped", "worse");
    const dual = row(
      ...[mi("min"), mo("("), minus, symbol("c", mi("c")), times, used, mo(",")],
      ...[candidates, mo(")")],
    );
    lines.push(
      { ...plain, code, when: "positive" },
      {
        title: "Loss of the token: with a negative advantage the dual clip bounds it",
        mathml: math(loss, equals, dual),
        code: [...code, ...codeOf("dual")],
        when: "negative",
      },
    );
  }
  lines.push({
    title: "Gradient: what is left of it behind the clip",
    mathml: math(
      frac(row(mi("∂"), loss), row(mi("∂"), log("θ"))),
      equals,
      ...[
        minus,
        symbol("weight", sub(mi("w"), t)),
        times,
        used,
        equals,
        symbol("slope", sub(mi("g"), t)),
      ],
    ),
    code: codeOf("keptWeight", "insideWeight"),
  });
  lines.push(totalLine(settings));
  return lines;
}

function tokenRatio(): FormulaLine {
  const power = row(symbol("logprob", log("θ")), minus, symbol("oldLogprob", log("old")));
  return {
    title: "Ratio: how much likelier the token has become",
    mathml: math(ratio, equals, call("exp", power)),
    code: codeOf("ratio"),
  };
}

function rowRatio(): FormulaLine {
  const average = symbol(
    "rowLogRatio",
    row(
      "<munder><mtext>mean</mtext><mtext>row</mtext></munder>",
      mo("("),
      log("θ"),
      minus,
      log("old"),
      mo(")"),
    ),
  );
  return {
    title: "Ratio: one for the whole row, the geometric mean of its tokens'",
    mathml: math(ratio, equals, call("exp", average)),
    code: codeOf("rowRatio"),
  };
}

const sums: Record<LossAggregation, [string, string]> = {
  "token-mean": ["every trained token of the batch counts the same", "tokens"],
  "token-sum": ["every trained token counts as it is", "one"],
  "seq-mean-token-sum": ["every row counts its tokens' sum", "rows"],
  "seq-mean-token-mean": ["every row counts the same, however long", "rows · its tokens"],
  "seq-mean-token-sum-norm": ["one constant length for all rows", "longest"],
};

function totalLine(settings: ObjectiveSettings): FormulaLine {
  const how = aggregationOf(settings).mode;
  const [why, what] = sums[how];
  const share = symbol("share", frac(mn(1), `<mtext>${what}</mtext>`));
  const kl = settings.klLossCoefficient
    ? [mo("+"), symbol("beta", mi("β")), times, symbol("kl", sub(mi("KL"), t))]
    : [];
  return {
    title: `Share in the loss of the batch: ${why}`,
    mathml: math(
      ...[symbol("part", sub(mi("L"), t)), equals, share, times],
      ...(kl.length > 0 ? [mo("("), loss, ...kl, mo(")")] : [loss]),
    ),
    code: [...codeOf(how), ...(kl.length > 0 ? codeOf("kl") : [])],
  };
}
