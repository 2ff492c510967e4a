import * as f from "../../../learn/losses/base/formula.js";

const { call, equals, frac, given, math, mi, minus, mn, mo, plus, row, sub, symbol, times } = f;

const reward = symbol("reward", mi("R"));
const mean = symbol("groupMean", call("mean", mi("R")));
const size = symbol("groupSize", mi("k"));
const small = "<msup><mn>10</mn><mn>-6</mn></msup>";

const spreadTitle = "Advantage: how much better the trajectory did than its group";

/** What estimators make of a score, where a formula of the trajectory says it. */
const known: Readonly<Record<string, string>> = {
  grpo: frac(
    row(reward, minus, mean),
    row(symbol("groupDeviation", call("sd", mi("R"))), plus, small),
  ),
  "grpo, not normalised": row(reward, minus, mean),
  rloo: row(frac(size, row(size, minus, mn(1))), mo("("), reward, minus, mean, mo(")")),
  gpg: row(
    frac("<mtext>trajectories</mtext>", "<mtext>trajectories with R ≠ 0</mtext>"),
    ...[mo("("), reward, minus, mean, mo(")")],
  ),
};

/** The advantages that are no outcome of a group: what a critic expects, and none at all. */
const others: Readonly<Record<string, Pick<f.FormulaLine, "title" | "mathml">>> = {
  gae: {
    title: "Advantage: how much better it went on than the critic expected, then whitened",
    mathml: math(
      given,
      equals,
      call(
        "whiten",
        row(
          ...[
            "<munder><mo>∑</mo><mrow><mi>k</mi><mo>≥</mo><mi>t</mi></mrow></munder>",
            "<msup><mrow><mo>(</mo><mi>γ</mi><mi>λ</mi><mo>)</mo></mrow><mrow><mi>k</mi><mo>−</mo><mi>t</mi></mrow></msup>",
          ],
          mo("("),
          "<msub><mi>r</mi><mi>k</mi></msub>",
          ...[plus, mi("γ")],
          "<msub><mi>V</mi><mrow><mi>k</mi><mo>+</mo><mn>1</mn></mrow></msub>",
          minus,
          "<msub><mi>V</mi><mi>k</mi></msub>",
          mo(")"),
        ),
      ),
    ),
  },
  critic: {
    title: "Advantage: how much better it went on than the critic expected (γ = λ = 1), whitened",
    mathml: math(
      given,
      equals,
      call("whiten", row(reward, minus, symbol("value", sub(mi("V"), mi("t"))))),
    ),
  },
  reinforce: {
    title: "Advantage: the score itself, against nothing",
    mathml: math(given, equals, reward),
  },
};

/** The library's lines that make advantages. */
const code: Readonly<Record<string, string>> = {
  grpo: "grpo.return",
  rloo: "rloo.return",
  gae: "gae.next",
  reinforce_plus_plus: "reinforcePlusPlus.return",
  reinforce_plus_plus_baseline: "reinforcePlusPlusBaseline.return",
  opo: "opo.return",
  gpg: "gpg.return",
  critic: "gae.delta",
  reinforce: "gae.returns",
};

/** How an estimator makes an advantage of a trajectory's score. */
export function advantageLine(
  estimator: string,
  { normalised = true, hard = false }: { normalised?: boolean; hard?: boolean } = {},
): f.FormulaLine {
  const own = estimator in code ? [code[estimator]!] : [];
  const other = others[estimator];
  if (other) return { ...other, code: own };
  const name = estimator === "grpo" && !normalised ? "grpo, not normalised" : estimator;
  const formula = known[name] ?? call(estimator.replace(/_/g, " "), reward);
  if (!hard) {
    return f.line(spreadTitle, math(given, equals, formula), ...own, "spread.out");
  }
  const average = row(
    frac(mn(1), symbol("sharing", mi("m"))),
    "<munder><mo>∑</mo><mtext>trajectories that share it</mtext></munder>",
    ...[times, formula],
  );
  return f.line(
    "Advantage: the mean over the trajectories that share the token",
    math(given, equals, average),
    ...[...own, "hardAttribution.out"],
  );
}
