import type { OptionRules } from "../../../common/options/check-options.js";
import type { Advice, RunFacts, SettingTable, ValuesOf } from "../../../common/options/setting.js";
import type { PublishedUpdate } from "../losses/presets.js";
import type { CreditBatch } from "./adapt/credit-trajectories.js";
import type { Spans } from "./adapt/prompt-trees.js";

/** Options of an estimator that nothing but code can say, with what each may be. */
// eslint-disable-next-line @typescript-eslint/no-explicit-any -- estimators of all options stand in one list
type CodeOptions = any;

/**
 * An estimator that says what made each advantage: everything that the library knows of it. A new one is a
 * definition and its line in the registry.
 */
export interface EstimatorDefinition<
  Name extends string = string,
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- the same
  T extends SettingTable = any,
  O extends object = CodeOptions,
> {
  /** verl's kind of name: `tree_grpo`. Its options stand under the same name in camel case. */
  readonly name: Name;
  /** What a token gets, in a few words: above a view's map. */
  readonly meaning: string;
  /** The same as a formula, in docs/algorithms.md. */
  readonly formula: string;
  /** Its settings, in options and in a configuration. */
  readonly settings: T;
  /** Options that a configuration cannot say. */
  readonly besides: OptionRules<O>;
  /** The preset that it belongs to, with what the published runs set of an update. */
  readonly preset?: { readonly name: string; readonly update?: PublishedUpdate };
  /** What every trajectory's tokens get. */
  spans(batch: CreditBatch, options: Partial<ValuesOf<T>> & O): Spans;
  /** What doctor says of a run with it. */
  advice?(run: RunFacts, settings: ValuesOf<T>): Advice[];
}

/** An estimator, with the types of its settings read from their table. */
export const defineEstimator =
  <O extends object = object>() =>
  <const Name extends string, const T extends SettingTable>(
    definition: EstimatorDefinition<Name, T, O>,
  ): EstimatorDefinition<Name, T, O> =>
    definition;

/** What doctor says of estimators that take rewards of turns. */
export const needsTurnRewards = ({ estimator }: RunFacts): Advice => ({
  id: "turns-need-rewards",
  status: "note",
  found: `${estimator} needs rewards of turns: a tool must return one with its result, or the reward function say \`turns\``,
});
