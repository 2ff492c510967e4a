// The tables of docs/evidence/part-b.md, from the runs of its data file.
import { Random } from "arpo-lab";
import { compareAt } from "arpo-lab/run";
import {
  equivalence,
  holm,
  pairedStatistics,
  tQuantile,
} from "../../../dist/src/run/compare/paired.js";
import { table } from "./page.mjs";
import { costRows, latencies } from "./tree-costs.mjs";
import { at, families, margin, places, predicted, switches } from "./training-settings.mjs";

const signed = (x, digits = 3) => `${x > 0 ? "+" : ""}${x.toFixed(digits)}`;
const open = "not resolved";
const interval = ({ mean, low, high }, digits = 3) =>
  `${signed(mean, digits)} [${signed(low, digits)}, ${signed(high, digits)}]`;
const pText = (p) => (p < 0.001 ? "<0.001" : p.toFixed(3));
const meanOf = (values) => values.reduce((sum, x) => sum + x, 0) / values.length;

/** Seeds that every one of the arms has in both families. */
export const completeSeeds = (runs, arms) =>
  [...runs[families[0]][arms[0]].keys()]
    .filter((seed) => families.every((f) => arms.every((arm) => runs[f][arm].has(seed))))
    .sort((a, b) => a - b);

/** Whether a run measured its held-out score on both sides of a cost. */
const brackets = (lines, x) => {
  const costs = lines.flatMap((l) => (l.held_out === undefined ? [] : [l[`cost/${x}`]]));
  return costs.some((cost) => cost <= at[x]) && costs.some((cost) => cost >= at[x]);
};

/** The score of each arm at an equal cost: `[family][arm]`, a list in the order of `seeds`. */
async function scoresAt(runs, arms, x) {
  const all = completeSeeds(runs, arms);
  const seeds = all.filter((seed) =>
    families.every((f) => arms.every((arm) => brackets(runs[f][arm].get(seed), x))),
  );
  const scores = {};
  const compared = {};
  for (const family of families) {
    const lists = arms.map((arm) => [arm, seeds.map((seed) => runs[family][arm].get(seed))]);
    const found =
      seeds.length > 0 &&
      (await compareAt(Object.fromEntries(lists), { x, at: at[x], metric: "held_out", margin }));
    compared[family] = found;
    scores[family] = Object.fromEntries(
      arms.map((arm, i) => [arm, found ? [...found.arms[i].values.values()] : []]),
    );
  }
  return { seeds, left: all.length - seeds.length, scores, compared };
}

/** Differences of sums of arms, one per seed, the mean over the families. */
const pairedBy = ({ seeds, scores }, weights) =>
  seeds.map((_, i) =>
    meanOf(
      families.map((family) =>
        Object.entries(weights).reduce((sum, [arm, w]) => sum + w * scores[family][arm][i], 0),
      ),
    ),
  );
const between = (found, arm, against) =>
  pairedStatistics(pairedBy(found, { [arm]: 1, [against]: -1 }));

function kendall(a, b) {
  let sum = 0;
  let pairs = 0;
  for (let i = 0; i < a.length; i++)
    for (let j = 0; j < i; j++, pairs++) sum += Math.sign((a[i] - a[j]) * (b[i] - b[j]));
  return sum / pairs;
}

/** How alike the order of predicted speed-ups is to that of scores, the mean over families; bootstrap over seeds. */
function predictedOrder({ seeds, scores }, cost) {
  const arms = Object.keys(places);
  const tau = (chosen) =>
    meanOf(
      families.map((family) =>
        kendall(
          arms.map((arm) => predicted[family][arm]?.[cost] ?? 1),
          arms.map((arm) => meanOf(chosen.map((i) => scores[family][arm][i]))),
        ),
      ),
    );
  const random = Random.from(0).split("tau");
  const draws = Array.from({ length: 2000 }, () =>
    tau(seeds.map(() => random.integer(seeds.length))),
  ).sort((a, b) => a - b);
  return { mean: tau([...seeds.keys()]), low: draws[50], high: draws[1949] };
}

/** The last score below half of the best. */
function collapsed(lines) {
  const scores = lines.flatMap(({ held_out: score }) => score ?? []);
  return scores.at(-1) < Math.max(...scores) / 2;
}

async function answers(runs, tokens, calls, other) {
  const d = {
    q7: between(tokens, "uniform", "coin"),
    ...{ b: between(tokens, "fresh", "coin"), c: between(tokens, "entropy", "coin") },
    ...{ d: between(tokens, "group-mixed", "coin"), e: between(calls, "uniform", "coin") },
    f: between(calls, "fresh", "coin"),
  };
  const { q7, ...confirm } = d;
  const corrected = holm(Object.values(confirm).map(({ p }) => p));
  const equal = equivalence(q7, margin);
  const row = (id, statistic, found, note, answer) => [
    id,
    statistic,
    String(found.n),
    interval(found),
    note,
    answer,
  ];
  const names = [
    ["Q7b", "fresh less coin, equal tokens"],
    ["Q7c", "entropy less coin, equal tokens"],
    ["Q7d", "group-mixed less coin, equal tokens"],
    ["Q8a", "uniform less coin, equal calls"],
    ["Q8b", "fresh less coin, equal calls"],
  ];
  const explored = (id, statistic, found) => row(id, statistic, found, "", "");
  const rest =
    other.seeds.length < 2
      ? []
      : [
          explored("Q11", "arpo less coin", between(other, "arpo", "coin")),
          explored("Q12", "aepo less arpo", between(other, "aepo", "arpo")),
          ...Object.keys(switches)
            .filter((arm) => arm.startsWith("aepo,"))
            .map((arm) => explored("Q12", `${arm}, less aepo`, between(other, arm, "aepo"))),
          explored(
            "Q13",
            "coin, tree credit less coin",
            between(other, "coin, tree credit", "coin"),
          ),
          explored(
            "Q13",
            "the same of uniform, less that of coin",
            pairedStatistics(
              pairedBy(other, {
                ...{ "uniform, tree credit": 1, uniform: -1, "coin, tree credit": -1, coin: 1 },
              }),
            ),
          ),
        ];
  return table(
    ["question", "statistic", "seeds", "difference of scores, 95%", "p", "answer"],
    [
      row(
        ...["Q7 (primary)", "uniform less coin, equal tokens", q7],
        `${pText(equal)} (within ${margin})`,
        equal < 0.05 ? "equal" : q7.low > 0 ? "more" : q7.high < 0 ? "less" : open,
      ),
      ...names.map(([id, statistic], i) => {
        const found = Object.values(confirm)[i];
        const p = corrected[i];
        return row(
          id,
          statistic,
          found,
          `${pText(p)} (Holm)`,
          p < 0.05 ? (found.mean > 0 ? "more" : "less") : open,
        );
      }),
      ...rest,
    ],
  );
}

function order(tokens, calls) {
  const rows = [
    ["equal tokens", tokens, 0],
    ["equal calls", calls, 1],
  ].map(([label, found, cost]) => {
    const tau = predictedOrder(found, cost);
    const answer = tau.mean > 0.5 && tau.low > 0 ? "same order" : open;
    return [label, String(found.seeds.length), interval(tau, 2), answer];
  });
  return table(["scores at", "seeds", "Kendall's tau, 95%", "answer"], rows);
}

/** A mean with half of its Student interval. */
function plusMinus(values, digits = 3) {
  const { n, mean, low, high } = pairedStatistics(values);
  return n < 2
    ? mean.toFixed(digits)
    : `${mean.toFixed(digits)} ± ${((high - low) / 2).toFixed(digits)}`;
}

function armRows(runs, found, calls, arms) {
  return families.flatMap((family) =>
    arms.map((arm) => {
      const own = found.seeds.map((seed) => runs[family][arm].get(seed));
      const ends = own.map((lines) => lines.at(-1));
      const per = (key) => meanOf(ends.map((end) => end[key] / end.step));
      return [
        ...[
          family,
          arm,
          String(own.length),
          per("cost/tokens").toFixed(0),
          per("cost/calls").toFixed(0),
        ],
        meanOf(ends.map((end) => end["perf/cpu_seconds"])).toFixed(1),
        plusMinus(found.scores[family][arm]),
        calls ? plusMinus(calls.scores[family][arm]) : "",
        meanOf(own.map((lines) => meanOf(lines.map((line) => line["critic/score/mean"])))).toFixed(
          3,
        ),
        meanOf(
          own.map((lines) => meanOf(lines.map((line) => line["tree/mixed_outcome_ratio"]))),
        ).toFixed(2),
        String(own.filter(collapsed).length),
      ];
    }),
  );
}
const armHeads = [
  ...["family", "arm", "seeds", "tokens a step", "calls a step", "CPU s"],
  ...["score, equal tokens", "equal calls", "score in training", "mixed groups", "collapsed"],
];

/** What `compareAt` says of each family. */
function differences(tokens, calls) {
  const rows = families.flatMap((family) =>
    [
      ["tokens", tokens],
      ["calls", calls],
    ].flatMap(([x, found]) =>
      (found.compared[family] ? found.compared[family].differences : []).map((one) => [
        ...[family, x, `${one.arm} less ${one.against}`, interval(one)],
        `[${signed(one.bootstrap.low)}, ${signed(one.bootstrap.high)}]`,
        ...[one.deviation.toFixed(3), String(one.seedsFor(margin))],
      ]),
    ),
  );
  return table(
    [
      "family",
      "equal",
      "difference",
      "mean, 95%",
      "bootstrap",
      "sd of a pair",
      `seeds for ${margin}`,
    ],
    rows,
  );
}

/** The share of ARPO's decisions that entropy changes, by training step. */
function changedRows(runs, seeds) {
  const steps = [1, 2, 3, 4, 5, 6, 7, 8];
  return table(
    ["family", "seeds", ...steps.map((step) => `step ${step}`), "last 4 less first 4, 95%"],
    families.map((family) => {
      const own = seeds.map((seed) => runs[family].arpo.get(seed));
      const at = (lines, step) => lines.find((l) => l.step === step)?.["branch/decided_by_entropy"];
      const mean = (lines, from, to) =>
        meanOf(steps.filter((s) => s >= from && s <= to).flatMap((s) => at(lines, s) ?? []));
      return [
        ...[family, String(own.length)],
        ...steps.map((step) => meanOf(own.flatMap((lines) => at(lines, step) ?? [])).toFixed(4)),
        interval(pairedStatistics(own.map((lines) => mean(lines, 5, 8) - mean(lines, 1, 4))), 4),
      ];
    }),
  );
}

/** The half-width to expect of the primary question's interval with more seeds. */
function resolution(tokens) {
  const { deviation } = between(tokens, "uniform", "coin");
  return table(
    ["seeds", "half-width of the primary interval"],
    [tokens.seeds.length, 80, 160].map((n) => [
      String(n),
      `± ${((tQuantile(0.975, n - 1) * deviation) / Math.sqrt(n)).toFixed(3)}`,
    ]),
  );
}

/** What D calls in segments of equal length leave: calls of a branch after a random result and before a random token. */
const depthRows = () =>
  [1, 2, 3, 5, 10].map((depth) => {
    const after = (depth - 1) / 2;
    const ratio = after === 0 ? "no call left" : (depth / 2 / after).toFixed(2);
    return [String(depth), after.toFixed(1), (depth / 2).toFixed(1), ratio];
  });

export async function trainingTables(runs, trees) {
  const first = Object.keys(places);
  const second = Object.keys(switches);
  const tokens = await scoresAt(runs, first, "tokens");
  const calls = await scoresAt(runs, first, "calls");
  const other = await scoresAt(runs, ["coin", "uniform", ...second], "tokens");
  const enough = other.seeds.length >= 2;
  return {
    answers: await answers(runs, tokens, calls, other),
    order: order(tokens, calls),
    arms: table(armHeads, armRows(runs, tokens, calls, first)),
    switches: enough
      ? table(armHeads, armRows(runs, other, undefined, second))
      : "No seed is complete yet.",
    differences: differences(tokens, calls),
    changed: enough ? changedRows(runs, other.seeds) : "No seed is complete yet.",
    resolution: resolution(tokens),
    costs: table(
      [
        ...["family", "arm", "trees", "tokens a trajectory", "calls a trajectory"],
        ...latencies.map((latency) => `time, a call = ${latency}`),
      ],
      costRows(trees),
    ),
    depth: table(
      ["calls of a trajectory", "calls left after a result", "before a random token", "ratio"],
      depthRows(),
    ),
  };
}
