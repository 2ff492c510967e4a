// The tables of docs/evidence from its data files: the same files give the same text.
import { readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";
import { decideBranch } from "../../../dist/src/rollout/rules/decide-branch.js";
import { BranchValues } from "../../../dist/src/measure/branch-values/branch-values.js";
import { MeasuredTrajectory } from "../../../dist/src/measure/branch-values/measured-trajectory.js";
import { placesOf } from "../../../dist/src/measure/branch-values/place-rules.js";
import { estimate } from "../../../dist/src/measure/branch-values/resample.js";
import { readValues } from "../../../dist/src/measure/branch-values/value-record.js";
import { table } from "./page.mjs";
import { bootstrap, confirmatory, tiny } from "./settings.mjs";

const right = (score) => (score > 0.5 ? 1 : 0);
const explored = { ...bootstrap, draws: 1000 };
const level = 1 - 0.05 / confirmatory;

/** What a folder of data files holds: the cells that were measured, in the order of the tables. */
export function readEvidence(folder, { cells } = tiny) {
  const lines = readFileSync(`${folder}/decisions.csv`, "utf8").trim().split("\n").slice(1);
  const decisions = lines.map((line) => {
    const [cell, task, attempts, changed] = line.split(",");
    return { cell, task, attempts: Number(attempts), changed: Number(changed) };
  });
  const found = cells.flatMap((cell) => {
    const path = `${folder}/${cell.name}.jsonl.gz`;
    let bytes;
    try {
      bytes = readFileSync(path);
    } catch (error) {
      if (error.code === "ENOENT") return [];
      throw error;
    }
    return [{ ...cell, ...readValues(gunzipSync(bytes).toString("utf8"), path) }];
  });
  return { cells: found, decisions };
}

const number = (x, digits) => (x === undefined ? "" : x.toFixed(digits));
const shown = ({ value, low, high }, digits = 2) =>
  value === undefined
    ? "none"
    : low === undefined
      ? number(value, digits)
      : `${number(value, digits)} [${number(low, digits)}, ${number(high, digits)}]`;
const ratio = ({ ratio: value, ratioLow: low, ratioHigh: high }) => ({ value, low, high });
const divided = (a, b) => (Math.abs(b) > 1e-12 ? a / b : undefined);

const valuesOf = (list) =>
  new BranchValues(
    list[0].settings,
    list.flatMap(({ records }) => records),
  );

/** Sums over the tokens of each prompt, for statistics that `BranchValues` has no method for. */
function sumsOf(list, visit) {
  const records = list.flatMap((cell) => cell.records);
  const numbers = new Map();
  for (const { task } of records) if (!numbers.has(task)) numbers.set(task, numbers.size);
  const prompts = records.map(({ task }) => numbers.get(task));
  const measured = records.map((record) => new MeasuredTrajectory(record, right));
  const sums = Array.from(numbers, () => []);
  const add = (r, terms) => {
    const own = sums[prompts[r]];
    terms.forEach((term, i) => (own[i] = (own[i] ?? 0) + term));
  };
  visit(measured, add, prompts);
  return sums;
}

/** Q1: the decided share of the first k tokens after a result, less their share of tokens. */
const afterResults = (list, k, how) =>
  estimate(
    sumsOf(list, (measured, add) =>
      measured.forEach((one, r) => {
        for (let i = 0; i < one.length; i++) {
          const inside = Number(one.seen.sinceResult[i] < k);
          add(r, [inside, 1, inside * one.decided(i), one.decided(i)]);
        }
      }),
    ),
    ([inside, all, decided, total]) => divided(decided, total) - inside / all,
    how,
  );

/** Q6: what the first token of a branch decides, of one rule less of another. */
const decidedLess = (list, [a, b], how) =>
  estimate(
    sumsOf(list, (measured, add, prompts) => {
      const places = [a, b].map((rule) => placesOf(rule, rule, measured, prompts).weights);
      measured.forEach((one, r) => {
        for (let i = 0; i < one.length; i++) {
          const [x, y] = places.map((weights) => weights[r][i]);
          const decided = x || y ? one.decided(i) : 0;
          add(r, [x, x * decided, y, y * decided]);
        }
      });
    }),
    ([n, x, m, y]) => x / n - y / m,
    how,
  );

/** Q3b: the share of decisions that a coin with the same draws makes otherwise. */
function changedShare(decisions, how) {
  const sums = new Map();
  for (const { task, attempts, changed } of decisions) {
    const own = sums.get(task) ?? sums.set(task, [0, 0]).get(task);
    own[0] += changed;
    own[1] += attempts;
  }
  return estimate([...sums.values()], ([changed, all]) => divided(changed, all), how);
}

function cellRow(cell, { decisions, several }) {
  const values = valuesOf([cell]);
  const { family, checkpoint, name, records, planned } = cell;
  const share = records.reduce((sum, { score }) => sum + right(score), 0) / records.length;
  const tokens = records.reduce((sum, { texts }) => sum + texts.length, 0) / records.length;
  const calls =
    records.reduce((sum, { segments }) => sum + segments.length - 1, 0) / records.length;
  const names = ["after-results", "group-mixed", "entropy"];
  const [after, mixed, entropy] = values.worth(names, explored);
  const [afterCall] = values.worth(names.slice(0, 1), { ...explored, per: "call" });
  const [, mixedRow] = values.worth(["after-results", "group-mixed"], {
    ...{ ...explored, per: "trajectory", against: "fresh" },
  });
  const [found] = values.capture({ entropy: (t) => t.entropies }, { ...explored, shares: [0.1] });
  const first = values.decided({ five: (t) => t.sinceResult.map((s) => s < 5) }, explored)[0];
  return [
    ...[family, checkpoint, records.length, planned, number(share, 2), number(tokens, 0)],
    ...[
      number(calls, 1),
      shown(ratio(after)),
      several.includes(family) ? shown(ratio(afterCall)) : "one call",
    ],
    ...[`${shown(first)} of ${number(first.tokens, 2)}`, shown(found), shown(ratio(entropy))],
    ...[shown(ratio(mixed)), shown(ratio(mixedRow))],
    shown(
      changedShare(
        decisions.filter((one) => one.cell === name),
        explored,
      ),
      3,
    ),
  ];
}

/** Whether an interval lies within bounds. */
const within = ({ low, high }, from, to) => low >= from && high <= to;

function answers(main, { values, calls }, { decisions, equal: [least, most], several }) {
  const confirm = { ...bootstrap, level };
  const [after] = values.worth(["after-results"], bootstrap);
  const q2a = ratio(after);
  const q1 = afterResults(main, 5, confirm);
  const q2b = ratio(calls.worth(["after-results"], { ...confirm, per: "call" })[0]);
  const q3a = ratio(values.worth(["arpo-code"], { ...confirm, against: "after-results" })[0]);
  const q3b = changedShare(
    decisions.filter(({ cell }) => main.some(({ name }) => name === cell)),
    confirm,
  );
  const [q4] = values.capture({ entropy: (t) => t.entropies }, { ...confirm, shares: [0.1] });
  const q5 = ratio(
    values.worth(["group-mixed"], { ...confirm, per: "trajectory", against: "fresh" })[0],
  );
  const q6 = decidedLess(main, ["entropy-2", "after-entropy"], confirm);
  const check = values.check(bootstrap);
  const open = "not resolved";
  const confirmed = (id, statistic, found, digits, answer) => [
    ...[id, statistic, shown(found, digits), "99.3%", answer || open],
  ];
  return [
    [
      ...["Q2a (primary)", "worth per token, after results : uniform", shown(q2a, 3), "95%"],
      within(q2a, least, most)
        ? "equal"
        : q2a.low > most
          ? "more"
          : q2a.high < least
            ? "less"
            : open,
    ],
    confirmed(
      "Q1",
      "first 5 tokens after a result: decided share less token share",
      q1,
      3,
      q1.high < 0 ? "less" : q1.low > 0 ? "more" : "",
    ),
    confirmed(
      "Q2b",
      `worth per call, after results : uniform (${several.join(", ")})`,
      q2b,
      2,
      q2b.low > 1.25 ? "more" : "",
    ),
    confirmed(
      "Q3a",
      "worth per token, ARPO's code : any result",
      q3a,
      3,
      within(q3a, 0.97, 1.03) ? "equal" : "",
    ),
    confirmed(
      "Q3b",
      "ARPO's decisions that its entropy term changes",
      q3b,
      4,
      q3b.high < 0.05 ? "few" : "",
    ),
    confirmed(
      "Q4",
      "decided variance at the most uncertain tenth of tokens",
      q4,
      2,
      q4.low > 0.5 ? "yes" : q4.high < 0.2 ? "no" : "",
    ),
    confirmed(
      "Q5",
      "worth per trajectory, group-mixed : fresh",
      q5,
      3,
      q5.low > 1 ? "yes" : q5.high < 1 ? "no" : "",
    ),
    confirmed(
      "Q6",
      "decided by the first token: drawn anew (2 most uncertain) less gone on after",
      q6,
      4,
      q6.low > 0 ? "anew" : "",
    ),
    [
      "check",
      "all tokens decide, less the variance at the prompt",
      shown(check, 4),
      "95%",
      check.low <= 0 && check.high >= 0 ? "holds" : "**fails**",
    ],
  ];
}

const judged = [
  ...[
    "fresh",
    "uniform",
    "after-results",
    "arpo-code",
    "arpo-paper",
    "aepo-code",
    "aepo-paper",
    "top-rise",
  ],
  ...[
    "entropy",
    "entropy-2",
    "after-entropy",
    "entropy-window",
    "appo",
    "appo-rollout",
    "group-mixed",
  ],
  ...["critic", "critic-per-token", "oracle", "oracle-per-token"],
];

function ruleRows({ values, calls }) {
  const token = values.worth(judged, explored);
  const fresh = values.worth(judged, { ...explored, per: "trajectory", against: "fresh" });
  const call = calls.worth(judged, { ...explored, per: "call" });
  return judged.map((rule, i) => {
    const { variance, decided, tokensLeft, callsLeft, places } = token[i];
    return [
      ...[rule, number(places, 2), number(variance, 3), number(decided, 4), number(tokensLeft, 1)],
      ...[
        number(callsLeft, 2),
        shown(ratio(token[i])),
        shown(ratio(call[i])),
        shown(ratio(fresh[i])),
      ],
    ];
  });
}

/** The entropy of each segment over the full vocabulary, by ln V: of its first 20 positions, and of all. */
function fullEntropies({ entropies, segment, segmentEntropies }, vocabulary) {
  const sums = segmentEntropies.map(() => ({ first: 0, all: 0, seen: 0 }));
  entropies.forEach((entropy, i) => {
    const own = sums[segment[i]];
    const normal = entropy / Math.log(vocabulary);
    own.all += normal;
    if (own.seen++ < 20) own.first += normal;
  });
  return sums;
}

const published = { probability: 0.5, weight: 0.2, threshold: 0.5, penaltySlope: 0.05 };

/** The chance of a branch after the result before segment `s`, from the entropies of all segments. */
function chanceAt(rule, entropies, s) {
  const entropy = entropies[rule.endsWith("-paper") ? s : s - 1];
  const situation = { u: 0, entropy, baseline: entropies[0], consecutive: 0 };
  return decideBranch({ rule, ...published }, situation).probability;
}

/** How often a rule branches at its defaults, and how far its chances are from a coin's. */
function coinRows(main) {
  const always = () => true;
  const kinds = [
    ["arpo-code", "arpo-code", always],
    ["arpo-code, first result", "arpo-code", (s) => s === 1],
    ["arpo-code, later results", "arpo-code", (s) => s > 1],
    ...["aepo-code", "seed-docs", "arpo-paper", "aepo-paper"].map((rule) => [rule, rule, always]),
  ];
  const sums = sumsOf(main, (measured, add) =>
    measured.forEach(({ seen: { segmentEntropies } }, r) => {
      for (let s = 1; s < segmentEntropies.length; s++) {
        const terms = kinds.flatMap(([, rule, counts]) => {
          const chance = chanceAt(rule, segmentEntropies, s);
          return counts(s) ? [1, chance, Math.abs(chance - 0.5)] : [0, 0, 0];
        });
        add(r, terms);
      }
    }),
  ).filter((own) => own.length > 0);
  return kinds.map(([label], i) => {
    const part = (k) =>
      shown(
        estimate(sums, (total) => divided(total[3 * i + k], total[3 * i]), explored),
        3,
      );
    const attempts = sums.reduce((sum, own) => sum + own[3 * i], 0);
    return [label, String(attempts), part(1), part(2)];
  });
}

/** ARPO's entropy, of the ten most likely tokens at 20 positions, beside that of the full vocabulary. */
function cutRows(main, vocabulary) {
  const sums = sumsOf(main, (measured, add) =>
    measured.forEach(({ seen }, r) => {
      const full = fullEntropies(seen, vocabulary);
      const cut = seen.segmentEntropies;
      full.forEach(({ first, all }, s) => {
        const entropies = full.map((own) => own.first);
        const change =
          s === 0
            ? 0
            : Math.abs(chanceAt("arpo-code", cut, s) - chanceAt("arpo-code", entropies, s));
        add(r, [cut[s], first, all, Number(s > 0), change]);
      });
    }),
  );
  const part = (label, a, b) => {
    const found = estimate(sums, (total) => divided(total[a], total[b]), explored);
    return [label, shown(found, 3)];
  };
  return [
    part("of the first 20 positions' entropy, what the ten most likely tokens hold", 0, 1),
    part("of a segment's entropy, what its first 20 positions hold", 1, 2),
    part("ARPO's decisions that the full vocabulary would change", 4, 3),
  ];
}

/** Decisions that ARPO's entropy term changes as a policy is trained; families of one call are coins. */
const changedRows = (main, { checkpoints, decisions, several }) =>
  checkpoints.map((checkpoint) => {
    const names = main
      .filter((cell) => several.includes(cell.family) && cell.checkpoint === checkpoint)
      .map(({ name }) => name);
    const own = decisions.filter(({ cell }) => names.includes(cell));
    const attempts = own.reduce((sum, one) => sum + one.attempts, 0);
    return [checkpoint, String(attempts), shown(changedShare(own, explored), 4)];
  });

/** Every table of a study of part A, by the name of its place in the page. */
export function tables({ cells: measured, decisions }, study = tiny) {
  const own = { ...study, decisions };
  const main = measured.filter(({ control }) => !control);
  const values = valuesOf(main);
  const calls = valuesOf(main.filter(({ family }) => study.several.includes(family)));
  const decided = values.decided(undefined, explored);
  const captured = values.capture(undefined, explored);
  return {
    answers: table(
      ["question", "statistic", "found", "interval", "answer"],
      answers(main, { values, calls }, own),
    ),
    cells: table(
      [
        ...["family", "policy", "prompts", "planned", "right", "tokens", "calls"],
        ...[
          "after : uniform, per token",
          "per call",
          "decided in the first 5 after, of their share of tokens",
        ],
        ...[
          "found by entropy, top 10%",
          "entropy : uniform, per token",
          "group-mixed : uniform, per token",
        ],
        ...["group-mixed : fresh, per trajectory", "decisions that entropy changes"],
      ],
      measured.map((cell) => cellRow(cell, own)),
    ),
    rules: table(
      [
        ...["rule", "places", "Var", "decided", "tokens left", "calls left"],
        ...["per token, to uniform", "per call, to uniform", "per trajectory, to fresh"],
      ],
      ruleRows({ values, calls }),
    ),
    decided: table(
      ["where", "share of tokens", "of entropy", "of what is decided"],
      decided.map((one) => [
        one.place.replace(/[<>]/g, "`"),
        number(one.tokens, 3),
        number(one.entropy, 3),
        shown(one),
      ]),
    ),
    changed: table(["policy", "decisions", "changed by entropy"], changedRows(main, own)),
    coin: table(
      ["rule, at its defaults", "attempts", "branches", "a coin decides otherwise"],
      coinRows(main),
    ),
    cut: table(["statistic", "found"], cutRows(main, study.vocabulary)),
    capture: table(
      ["signal", ...["5%", "10%", "20%"].map((share) => `greatest ${share}`)],
      [0, 3, 6, 9].map((i) => [
        captured[i].signal,
        ...captured.slice(i, i + 3).map((one) => shown(one)),
      ]),
    ),
  };
}
