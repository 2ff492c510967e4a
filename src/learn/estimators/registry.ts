import {
  type OptionRule,
  type OptionRules,
  optionsOf,
} from "../../../common/options/check-options.js";
import { Registry } from "../../../common/options/registry.js";
import { rulesOf, type ValuesOf } from "../../../common/options/setting.js";
import type { Scored } from "../../reward/scored.js";
import { requireFinite, type Rows } from "../masked.js";
import { creditBatch } from "./adapt/credit-trajectories.js";
import { treeRlEstimator } from "./treerl.js";
import { appoEstimator } from "./appo.js";
import { at2poEstimator } from "./at2po.js";
import { Credit } from "./credit.js";
import type { EstimatorDefinition, PlainEstimator } from "./definition.js";
import { fr3eEstimator } from "./fr3e.js";
import { gdpoEstimator } from "./gdpo.js";
import { giGpoEstimator } from "./gigpo.js";
import { lengthPenaltyEstimator } from "./length-penalty.js";
import { mtGrpoEstimator } from "./mt-grpo.js";
import { gaeEstimator, gaeOlderEstimator } from "./plain/gae.js";
import { gpgEstimator } from "./plain/gpg.js";
import { grpoPassAtKEstimator } from "./plain/grpo-passk.js";
import { grpoEstimator } from "./plain/grpo.js";
import { maxRlEstimator } from "./plain/max-rl.js";
import { opoEstimator } from "./plain/opo.js";
import {
  optimalTokenBaselineEstimator,
  tirOptimalTokenBaselineEstimator,
} from "./plain/optimal-token-baseline.js";
import { reinforcePlusPlusBaselineEstimator } from "./plain/reinforce-plus-plus-baseline.js";
import { reinforcePlusPlusOlderEstimator } from "./plain/reinforce-plus-plus-older.js";
import { reinforcePlusPlusEstimator } from "./plain/reinforce-plus-plus.js";
import { remaxEstimator } from "./plain/remax.js";
import { rlooEstimator } from "./plain/rloo.js";
import { spoChainEstimator, spoTreeEstimator } from "./spo.js";
import { treeGrpoEstimator } from "./tree-grpo.js";
import { treePoEstimator } from "./treepo.js";
import { turnBaselineEstimator } from "./turn-baseline.js";

/** The estimators of scores and groups alone, in the reference's order. */
export const plainEstimators = [
  gaeEstimator,
  gaeOlderEstimator,
  grpoEstimator,
  rlooEstimator,
  reinforcePlusPlusEstimator,
  reinforcePlusPlusOlderEstimator,
  reinforcePlusPlusBaselineEstimator,
  remaxEstimator,
  opoEstimator,
  grpoPassAtKEstimator,
  gpgEstimator,
  maxRlEstimator,
  optimalTokenBaselineEstimator,
  tirOptimalTokenBaselineEstimator,
] as const;

/** The estimators of the family after ARPO. A new one is a definition and its line here. */
export const estimatorDefinitions = [
  treeGrpoEstimator,
  at2poEstimator,
  treeRlEstimator,
  appoEstimator,
  treePoEstimator,
  spoChainEstimator,
  spoTreeEstimator,
  fr3eEstimator,
  mtGrpoEstimator,
  giGpoEstimator,
  turnBaselineEstimator,
  gdpoEstimator,
  lengthPenaltyEstimator,
] as const;

type Known = (typeof estimatorDefinitions)[number];

/** The name of an estimator of the family. */
export type FamilyEstimator = Known["name"];

type Camel<S extends string> = S extends `${infer A}_${infer B}`
  ? `${A}${Capitalize<Camel<B>>}`
  : S;

/** What an estimator can be told. */
type OptionsOf<D> =
  D extends EstimatorDefinition<string, infer T, infer O> ? Partial<ValuesOf<T>> & O : never;

/** What each estimator of the family can be told, by its name. Default: as published. */
export type CreditOptions = {
  [D in Known as Camel<D["name"]>]?: OptionsOf<D>;
};

/** An estimator's name among options. */
export const optionName = (name: string) =>
  name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase()) as keyof CreditOptions;

/** What the options of an estimator may be. */
const ruleOf = ({ settings, besides }: EstimatorDefinition): OptionRule =>
  optionsOf<object>({ ...rulesOf(settings), ...besides });

const rulesByOption = (all: readonly EstimatorDefinition[]) =>
  Object.fromEntries(all.map((one) => [optionName(one.name), ruleOf(one)]));

/** What every option of the family's estimators may be. */
export const creditRules = rulesByOption(
  estimatorDefinitions,
) as unknown as OptionRules<CreditOptions>;

/** The same with those of estimators that were added, and of one that is given itself. */
export const creditRulesWith = (given: unknown): OptionRules<CreditOptions> => ({
  ...creditRules,
  ...rulesByOption(
    [...estimatorsByName.all.slice(estimatorsByName.built.length), given].filter(isFamily),
  ),
});

type NamesOf<L extends readonly { name: string }[]> = {
  readonly [I in keyof L]: L[I]["name"];
};

/** The estimators of the family after ARPO, by name. */
export const familyEstimators = estimatorDefinitions.map(({ name }) => name) as unknown as NamesOf<
  typeof estimatorDefinitions
>;

/** The estimators of scores and groups alone, by name. */
export const plainNames = plainEstimators.map(({ name }) => name) as unknown as NamesOf<
  typeof plainEstimators
>;

/** An estimator of either shape. */
export type AnyEstimator = EstimatorDefinition | PlainEstimator;

/**
 * Every estimator by name. One of a person's own that is added here can be named wherever the library's can.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { estimatorsByName } from "arpo-lab/experimental/family";
 *
 * assert.ok(estimatorsByName.has("grpo") && estimatorsByName.has("treepo"));
 * ```
 */
export const estimatorsByName = new Registry<
  AnyEstimator,
  (typeof plainEstimators)[number]["name"] | FamilyEstimator
>("estimator", [...plainEstimators, ...estimatorDefinitions], ["spans", "estimate"]);

const isFamily = (estimator: unknown): estimator is EstimatorDefinition =>
  typeof estimator === "object" && estimator !== null && "spans" in estimator;

/** Every estimator that has settings, those that were added too. */
export const familyDefinitions = (): EstimatorDefinition[] => estimatorsByName.all.filter(isFamily);

/** The names of estimators that can say what made an advantage. */
export const namesWithCredit = (): string[] =>
  estimatorsByName.names.filter((name) => {
    const one = estimatorsByName.get(name)!;
    return "spans" in one || one.credit !== undefined;
  });

/** What an estimator needs besides scores, by its name. */
export function needsOf(name: string): PlainEstimator["needs"] {
  const one = estimatorsByName.get(name);
  return one && "needs" in one ? one.needs : undefined;
}

/** The estimator of a tree that an option names or is. */
export function estimatorNamed(name: string | AnyEstimator): EstimatorDefinition | undefined {
  const found = typeof name === "object" ? name : estimatorsByName.get(name);
  return isFamily(found) ? found : undefined;
}

/** What errors call a scored trajectory. */
export const namesOf =
  ({ trajectories }: Scored) =>
  (row: number): string =>
    `trajectory ${trajectories[row]!.trajectory.id} of ${trajectories[row]!.group}`;

/** The credit that one of the family's rules gives to scored trajectories. */
export function familyCredit(
  scored: Scored,
  rewards: Rows,
  estimator: EstimatorDefinition,
  options: CreditOptions = {},
): Credit {
  requireFinite("give credit", "rewards", rewards, { nameOf: namesOf(scored) });
  const batch = creditBatch(scored, rewards);
  const told = options[optionName(estimator.name)] ?? {};
  return new Credit(estimator.spans(batch, told), batch.mask);
}
