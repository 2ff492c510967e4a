import { type OptionRules, optionsOf } from "../../../common/options/check-options.js";
import { rulesOf, type ValuesOf } from "../../../common/options/setting.js";
import type { Scored } from "../../reward/scored.js";
import type { Rows } from "../masked.js";
import { creditBatch } from "./adapt/credit-trajectories.js";
import { treeRlEstimator } from "./treerl-estimator.js";
import { appoEstimator } from "./appo.js";
import { at2poEstimator } from "./at2po.js";
import { Credit } from "./credit.js";
import type { EstimatorDefinition } from "./definition.js";
import { fr3eEstimator } from "./fr3e.js";
import { giGpoEstimator } from "./gigpo.js";
import { mtGrpoEstimator } from "./mt-grpo.js";
import { spoChainEstimator, spoTreeEstimator } from "./spo.js";
import { treeGrpoEstimator } from "./tree-grpo.js";
import { treePoEstimator } from "./treepo.js";
import { turnBaselineEstimator } from "./turn-baseline.js";

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
const optionName = (name: string) =>
  name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase()) as keyof CreditOptions;

/** What every option of the family's estimators may be. */
export const creditRules = Object.fromEntries(
  estimatorDefinitions.map(({ name, settings, besides }) => [
    optionName(name),
    optionsOf<object>({ ...rulesOf(settings), ...besides }),
  ]),
) as unknown as OptionRules<CreditOptions>;

type NamesOf<L extends readonly { name: string }[]> = {
  readonly [I in keyof L]: L[I]["name"];
};

/** The estimators of the family after ARPO, by name. */
export const familyEstimators = estimatorDefinitions.map(({ name }) => name) as unknown as NamesOf<
  typeof estimatorDefinitions
>;

const byName = new Map<string, EstimatorDefinition>(
  estimatorDefinitions.map((estimator) => [estimator.name, estimator]),
);

/** The estimator that can say what made an advantage, where an option names or is one. */
export const estimatorNamed = (
  name: string | EstimatorDefinition,
): EstimatorDefinition | undefined => (typeof name === "object" ? name : byName.get(name));

/** The credit that one of the family's rules gives to scored trajectories. */
export function familyCredit(
  scored: Scored,
  rewards: Rows,
  estimator: EstimatorDefinition,
  options: CreditOptions = {},
): Credit {
  const batch = creditBatch(scored, rewards);
  const told = options[optionName(estimator.name)] ?? {};
  return new Credit(estimator.spans(batch, told), batch.mask);
}
