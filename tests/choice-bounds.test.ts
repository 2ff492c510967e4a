import assert from "node:assert/strict";
import { test } from "node:test";
import { creditRules, estimatorDefinitions } from "../src/learn/estimators/registry.js";
import type { OptionRule } from "../common/options/check-options.js";
import type { SettingTable } from "../common/options/setting.js";
import { ruleDefinitions } from "../src/rollout/rules/registry.js";
import { loadConfig } from "../src/run/config/load.js";
import type { Tree } from "../src/run/config/tree.js";

// What each setting of a choice may be, in code and in a configuration. Some bounds differ on purpose: code takes
// what can be computed, a configuration refuses what can only be a slip.

/** What one place takes, and what it refuses. */
interface Bounds {
  takes: readonly unknown[];
  refuses: readonly unknown[];
}

/** Both places. */
interface Both {
  code: Bounds;
  config: Bounds;
}

const least = 1_000_000;
const bounds = (takes: readonly unknown[], refuses: readonly unknown[]): Bounds => ({
  takes,
  refuses,
});
const alike = (takes: readonly unknown[], refuses: readonly unknown[]): Both => ({
  code: bounds(takes, refuses),
  config: bounds(takes, refuses),
});

/** Whole numbers: any in code, up to `most` in a configuration. */
const counts = (from: number, most = least): Both => ({
  code: bounds([from, most, most + 1], [from - 1, from + 0.5, "1", NaN]),
  config: bounds([from, most], [from - 1, from + 0.5, most + 1, "one"]),
});
const flags = alike([true, false], [1, "yes"]);
const names = (...all: string[]) => alike(all, ["", "nothing", 1]);
const figures: Both = alike([-1e9, 0, 1e9], ["one", NaN, Infinity]);
/** A finite number in code, bounded in a configuration. */
const boundedInConfig = (from: number, most: number, code: Bounds): Both => ({
  code,
  config: bounds(
    [from, Math.min(most, 1e9)],
    [from - 0.01, "one", ...(most < Infinity ? [most + 0.01] : [])],
  ),
});
const any = bounds([-1e9, 0, 1e9], ["one", NaN, Infinity]);
const atLeast0 = bounds([0, 1, 1.5, 1e9], [-0.01, NaN, Infinity]);
const shares = alike([0, 0.5, 1], [-0.01, 1.01, "one"]);
const lists: Both = alike([[1], [6, 6, 6]], [[], [0], [1.5], 6]);

const fixed = ["entropy", "top-entropy", "surprisal", "appo", "random"];
const own = () => 1;
/** A configuration has one key for all rules; the rule says the rest (`group-mixed`). */
const signals: Both = {
  code: bounds([...fixed, own], ["own", "group-mixed", "nothing", 1]),
  config: bounds(fixed, ["own", "group-mixed", "nothing", 1]),
};
const mixedToo: Both = {
  code: bounds([...fixed, "group-mixed", own], ["own", "nothing", 1]),
  config: bounds([...fixed, "group-mixed"], ["own", "nothing", 1]),
};

const ofRules: Record<string, Record<string, Both>> = {
  "tree-grpo": { trees: counts(1), rounds: counts(0), points: counts(1), keep: counts(1) },
  at2po: { rounds: counts(0), points: counts(1), signal: signals, penalty: figures },
  treerl: {
    ...{ trees: counts(1), rounds: counts(0), points: counts(1), rows: counts(1) },
    ...{ signal: signals, upsampling: counts(0), maxLength: counts(1) },
  },
  appo: { signal: signals, gamma: figures, clip: figures },
  "appo-rollout": { signal: signals },
  fr3e: {
    ...{ points: counts(1), rows: counts(1), right: counts(0), wrong: counts(0) },
    signal: signals,
  },
  treepo: {
    ...{ segment: counts(1), depth: counts(1), divergence: counts(1) },
    first: alike(
      [
        [1, 1],
        [2, 8],
      ],
      [[0, 1], [3, 2], [2], [1, 2, 3], [1.5, 2], 2],
    ),
    allocation: names(
      ...["fixed_avg", "logprob_weighted_div", "inverse_logprob_weighted_div"],
      ...["norm_logprob_weighted_div", "norm_inv_logprob_weighted_div"],
      ...["node_logprob_weighted_div", "inverse_node_logprob_weighted_div"],
    ),
    temperature: alike([1e-9, 1, 1e9], [0, -1, "one"]),
  },
  "spo-tree": { segment: counts(1), factors: lists },
  redraw: { signal: mixedToo },
};

const ofEstimators: Record<string, Record<string, Both>> = {
  tree_grpo: {
    form: names(
      ...["tree", "tree_2norm", "tree_inner", "tree_per_token", "rloo", "no_estimator"],
      "tree_diff",
    ),
    loneRow: names("zero", "reward"),
    margin: boundedInConfig(0, Infinity, any),
  },
  at2po: {
    normalizeLeaves: flags,
    value: names("child_softmax", "child_mean", "leaf_mean"),
    advantage: names("node_value", "diff_parent", "diff_global", "diff_localglobal", "vanilla"),
    signal: names("surprisal", "entropy"),
  },
  treerl: {
    rule: names("code", "paper"),
    weights: names("sqrt", "uniform", "original"),
    centre: names("none", "step", "token"),
    bonus: names("state", "none", "orm", "chain", "value-only"),
    ...{ fill: flags, averageChildren: flags, penalizeCut: flags, allAncestors: flags },
    ...{ leaves: counts(1, 1e9), balance: shares, punishCut: flags },
  },
  appo: {
    normalizeByDeviation: flags,
    rewardScaleDiscount: boundedInConfig(0, 1, atLeast0),
  },
  treepo: {
    form: names("tree", "segment", "spo"),
    weights: names("average", "size"),
    skipEqual: flags,
    parentDecay: figures,
  },
  spo_chain: { threshold: shares },
  spo_tree: { form: names("rloo", "grpo"), onlyNonzero: flags },
  fr3e: {
    value: names("positive-share", "mean-reward"),
    ...{ sharpen: flags, normalizeByDeviation: flags, dropSettled: flags },
  },
  mt_grpo: { turnCoefficient: figures },
  gigpo: {
    gamma: boundedInConfig(0, 1, atLeast0),
    stepWeight: boundedInConfig(0, Infinity, any),
    normalizeByDeviation: flags,
    episodeBaseline: names("step", "trajectory"),
    similarity: {
      code: bounds([0, 0.5, 1], [-0.01, 1.01, "one"]),
      config: bounds([0.01, 1], [0, -0.01, 1.01, "one"]),
    },
  },
  turn_baseline: { baseline: names("padded", "leave-one-out", "turn-index"), outcome: flags },
  gdpo: { over: names("trajectories", "tokens") },
  length_penalty: {
    output: boundedInConfig(0, Infinity, atLeast0),
    input: boundedInConfig(0, Infinity, atLeast0),
    turns: boundedInConfig(0, Infinity, atLeast0),
  },
};

const snake = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
const camel = (name: string) => name.replace(/_(\w)/g, (_, one: string) => one.toUpperCase());
const list = (values: readonly unknown[]) => values.map((value) => JSON.stringify(value) ?? "own");

/** Compares what a place takes with the table. */
async function compare(
  name: string,
  { takes, refuses }: Bounds,
  isTaken: (value: unknown) => boolean | Promise<boolean>,
): Promise<void> {
  const asked = [...takes, ...refuses];
  const taken = await Promise.all(asked.map(isTaken));
  assert.deepEqual(list(asked.filter((_, i) => taken[i])), list(takes), name);
}

/** Whether a configuration takes a value under a key; what several keys must say together is another matter. */
async function inConfig(lab: Tree, ...names: string[]): Promise<boolean> {
  const fault = await loadConfig({ values: { lab } }).then(
    () => "",
    (error: Error) => error.message,
  );
  const together = /must be at most the \d+ leaves|must not both be 0/;
  return !names.some((name) => fault.includes(name)) || together.test(fault);
}

for (const [rule, settings] of Object.entries(ofRules)) {
  test(`rule ${rule}: every setting has its bounds in code and in a configuration`, async () => {
    const table = ruleDefinitions.find(({ name }) => name === rule)!.settings as SettingTable;
    assert.deepEqual(Object.keys(table), Object.keys(settings));
    for (const [name, { code, config }] of Object.entries(settings)) {
      await compare(`${name} in code`, code, (value) => table[name]!.rule.holds(value));
      await compare(`${name} in a configuration`, config, (value) => {
        const lab = { branch_rule: rule, expand: { [snake(name)]: value } };
        // The keys are for all rules: which values are this one's the rule says.
        return inConfig(lab, `lab.expand.${snake(name)}`, `expand.${name} must`);
      });
    }
  });
}

for (const [estimator, settings] of Object.entries(ofEstimators)) {
  test(`estimator ${estimator}: every setting has its bounds in code and in a configuration`, async () => {
    const definition = estimatorDefinitions.find(({ name }) => name === estimator)!;
    assert.deepEqual(Object.keys(definition.settings), Object.keys(settings));
    const { fields } = (creditRules as unknown as Record<string, OptionRule>)[camel(estimator)]!;
    for (const [name, { code, config }] of Object.entries(settings)) {
      const rule = fields![name] as OptionRule;
      await compare(`${name} in code`, code, (value) => rule.holds(value));
      await compare(`${name} in a configuration`, config, (value) => {
        const credit = { [estimator]: { [snake(name)]: value } };
        return inConfig({ credit }, `lab.credit.${estimator}.${snake(name)}`);
      });
    }
  });
}

test("the tables have every rule and every estimator of the family", () => {
  assert.deepEqual(
    ruleDefinitions.map(({ name }) => name),
    Object.keys(ofRules),
  );
  assert.deepEqual(
    estimatorDefinitions.map(({ name }) => name).sort(),
    Object.keys(ofEstimators).sort(),
  );
});

/** Options that only code can say. */
const ofCode: Record<string, Record<string, Bounds>> = {
  tree_grpo: { epsilon: atLeast0 },
  at2po: { epsilon: atLeast0 },
  treerl: { seed: bounds([0, 1], [-1, 0.5]) },
  appo: { epsilon: atLeast0 },
  treepo: {},
  spo_chain: {},
  spo_tree: { epsilon: atLeast0 },
  fr3e: { epsilon: atLeast0 },
  mt_grpo: { epsilon: atLeast0 },
  gigpo: { epsilon: atLeast0 },
  turn_baseline: {},
};

for (const [estimator, options] of Object.entries(ofCode)) {
  test(`estimator ${estimator}: what only code can say has its bounds`, async () => {
    const { fields } = (creditRules as unknown as Record<string, OptionRule>)[camel(estimator)]!;
    for (const [name, own] of Object.entries(options)) {
      await compare(name, own, (value) => (fields![name] as OptionRule).holds(value));
    }
  });
}
