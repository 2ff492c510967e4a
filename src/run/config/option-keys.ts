import { defined } from "../../../common/options/defined.js";
import { keysOf, type OptionTable } from "../../../common/options/option-table.js";
import { advantageTable } from "../../learn/advantage-settings.js";
import { familyDefinitions, optionName } from "../../learn/estimators/registry.js";
import type { ActorLossOptions } from "../../learn/losses/loss-rules.js";
import { updateTable } from "../../learn/update/update-settings.js";
import type { Sampling } from "../../policy/policy.js";
import { dynamicTable, rolloutSettings } from "../../rollout/settings.js";
import { creditTree, expandTree } from "./choice-keys.js";
import { whileKnown } from "./choices.js";
import { keysWith } from "./from-table.js";
import { lossKeysOf, lossTable } from "./loss-keys.js";
import { stalenessTable } from "../staleness/options.js";
import { budgetTable, runTable, warmupTable } from "./run-table.js";
import { isTree, merge, put, type Tree } from "./tree.js";

// The options of functions under the keys of a configuration: those that `trainOn` is given, and those that a file or a
// command line names as functions do.

/** How tokens are sampled, under the rollout's keys. */
export const samplingKeys = ({ temperature, topK, topP }: Sampling): Tree => ({
  actor_rollout_ref: { rollout: defined({ temperature, top_k: topK, top_p: topP }) },
});

/** Options that take the name of a choice. */
export const choiceOptions = {
  rule: "lab.branch_rule",
  estimator: "algorithm.adv_estimator",
  loss: "actor_rollout_ref.actor.policy_loss.loss_mode",
  calls: "actor_rollout_ref.rollout.tools.calls",
} as const;

/** Tables of options; of an option that stands in two, the first says its key. */
export const optionTables = () => ({
  run: { ...runTable, ...stalenessTable },
  rollout: rolloutSettings,
  advantages: advantageTable,
  update: { ...updateTable, ...lossTable() },
});

const named = (table: OptionTable) => keysOf(table).map(([name]) => name);

/** Options with options of their own, and which of those have a key; those of a rule are known to the schema. */
const groups = whileKnown((): Readonly<Record<string, readonly string[] | undefined>> => ({
  sampling: ["temperature", "topK", "topP"],
  expand: undefined,
  dynamicRollouts: named(dynamicTable),
  budget: named(budgetTable),
  warmup: named(warmupTable),
  ...Object.fromEntries(
    familyDefinitions().map(({ name, settings }) => [
      optionName(name) as string,
      Object.keys(settings as object),
    ]),
  ),
}));

/** Every option that a configuration can say. */
export const optionNames = whileKnown(
  (): ReadonlySet<string> =>
    new Set([
      ...Object.values(optionTables()).flatMap(named),
      ...Object.keys(choiceOptions),
      ...Object.keys(groups()),
    ]),
);

const objectAt = (options: Tree, name: string): object => {
  const value = options[name];
  return isTree(value) ? value : {};
};

/** Options as a configuration says them; those without a key are left out. */
export function keysOfOptions(given: object): Tree {
  const options = given as Tree;
  const { dynamicRollouts: dynamic, loss } = options;
  const ofLoss = keysOf(lossTable()).map(([name]) => [name, options[name]]);
  const chosen = Object.entries(choiceOptions).map(([name, key]) => [key, options[name]] as const);
  return [
    keysWith(runTable, options),
    keysWith(stalenessTable, options),
    // The length of responses is the data's, which the rollout's follows.
    keysWith(rolloutSettings, { ...options, responseLength: undefined }),
    keysWith(budgetTable, objectAt(options, "budget")),
    keysWith(warmupTable, objectAt(options, "warmup")),
    keysWith(dynamicTable, objectAt(options, "dynamicRollouts")),
    samplingKeys(objectAt(options, "sampling")),
    keysWith(advantageTable, options),
    keysWith(updateTable, options),
    lossKeysOf(defined(Object.fromEntries([...ofLoss, ["loss", loss]]) as ActorLossOptions)),
    creditTree(options),
    expandTree(objectAt(options, "expand")),
    dynamic === undefined
      ? {}
      : put({}, "actor_rollout_ref.rollout.enable_dynamic_rollouts", dynamic && true),
    chosen.reduce<Tree>(
      (tree, [key, name]) => (name === undefined ? tree : put(tree, key, name)),
      {},
    ),
  ].reduce(merge);
}

/** What of an option has a key; the rest of it stays where it is, so that it is refused by its name. */
function split(name: string, value: unknown): { keyed?: unknown; rest?: unknown } {
  if (!optionNames().has(name)) return { rest: value };
  if (!Object.hasOwn(groups(), name)) return { keyed: value };
  if (!isTree(value)) return typeof value === "boolean" ? { keyed: value } : { rest: value };
  const isKnown = ([part]: [string, unknown]) => groups()[name]?.includes(part) ?? true;
  const others = Object.entries(value).filter((entry) => !isKnown(entry));
  return {
    keyed: Object.fromEntries(Object.entries(value).filter(isKnown)),
    ...(others.length > 0 && { rest: Object.fromEntries(others) }),
  };
}

/** A configuration in which options may stand by their names, under its keys. */
export function underKeys(tree: Tree): Tree {
  if (!Object.keys(tree).some((name) => optionNames().has(name))) return tree;
  const parts = Object.entries(tree).map(([name, value]) => [name, split(name, value)] as const);
  const options = parts.flatMap(([name, { keyed }]) =>
    keyed === undefined ? [] : [[name, keyed]],
  );
  const rest = parts.flatMap(([name, part]) => ("rest" in part ? [[name, part.rest]] : []));
  return merge(
    keysOfOptions(Object.fromEntries(options) as Tree),
    Object.fromEntries(rest) as Tree,
  );
}
