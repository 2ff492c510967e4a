import { checkArguments } from "../../../common/options/check-arguments.js";
import type { OptionRules } from "../../../common/options/check-options.js";
import { defined } from "../../../common/options/defined.js";
import type { Advice, RunFacts, SettingTable, ValuesOf } from "../../../common/options/setting.js";
import type { PublishedUpdate } from "../losses/registry.js";
import { masked, requireFinite, type Rows } from "../masked.js";
import type { CreditBatch } from "./adapt/credit-trajectories.js";
import type { Spans } from "./adapt/prompt-trees.js";
import type { Advantages, Outcome } from "./base/estimator.js";
import type { Credit } from "./credit.js";

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
  /** verl's kind of name: words joined by `_`. Its options stand under the same name in camel case. */
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
  /** The same under other settings, which a view of all estimators shows besides. */
  readonly variants?: readonly { readonly name: string; readonly settings: Partial<ValuesOf<T>> }[];
  /** It gives credit to some of the leaves alone: the others were drawn to judge those. */
  readonly partial?: true;
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

/** What the distributions were that tokens were drawn from. */
export interface Distributions {
  /** ln p of each token before the update. */
  logprobs: Rows;
  /** The sum of p² over the vocabulary at each token. */
  squares: Rows;
  /** What a correction for another sampler multiplies the token losses by, where there is one. */
  weights?: Rows | undefined;
}

/** What a plain estimator is given of a batch. */
interface PlainInput extends Outcome {
  values?: Rows | undefined;
  baselines?: readonly number[] | undefined;
  distributions?: Distributions | undefined;
}

/** What a plain estimator can be told. */
interface PlainOptions {
  gamma: number;
  lambda: number;
  normalizeByDeviation: boolean;
}

/** What a plain estimator may need besides scores, in words. */
export const needWords = {
  values: "a critic's values",
  baselines: "greedy baselines",
  distributions: "rows with log-probabilities and squares (Learner.measureSquares)",
} as const;

/** An estimator of scores and groups alone, which looks at no tree: everything that the library knows of it. */
export interface PlainEstimator<Name extends string = string, F = unknown> {
  /** verl's name. */
  readonly name: Name;
  readonly meaning: string;
  readonly formula: string;
  /** The critic's values, the greedy answers' rewards, or the distributions that tokens were drawn from. */
  readonly needs?: keyof typeof needWords;
  /** It compares a trajectory with no other of its prompt. */
  readonly alone?: true;
  /**
   * It reads rewards token by token, and one on a masked token counts for nothing. The others add up a
   * trajectory's, wherever they stand.
   */
  readonly byToken?: true;
  /** It counts what stands on masked tokens, as an older rule did. */
  readonly countsMasked?: true;
  /** verl 0.9.1 has it under the same name. */
  readonly verl?: true;
  /** The function of numbers that it is. */
  readonly advantages: F;
  estimate(input: PlainInput, options: PlainOptions): Advantages;
  /** The same with the sum behind each, where it can be told. */
  credit?(input: Outcome, options: PlainOptions): Credit;
}

/** An estimator of scores and groups alone. */
export const definePlainEstimator = <const Name extends string, F>(
  definition: PlainEstimator<Name, F>,
): PlainEstimator<Name, F> => definition;

/**
 * The door of every plain estimator: its input with 0 for the values, and for the rewards that count by
 * token, wherever the mask has 0, whatever stood there. What counts must be finite.
 */
export function clearMasked<
  I extends Pick<PlainInput, "rewards" | "mask" | "values" | "distributions">,
>(
  { byToken, countsMasked }: Pick<PlainEstimator, "byToken" | "countsMasked">,
  input: I,
  nameOf?: (row: number) => string,
): I {
  const action = "estimate advantages";
  checkArguments(action, { input }, { input: { rewards: "list", mask: "list" } });
  const { rewards, mask, values, distributions } = input;
  const counted = countsMasked ? {} : { mask };
  requireFinite(action, "rewards", rewards, {
    ...(byToken ? counted : {}),
    ...defined({ nameOf }),
  });
  if (values) requireFinite(action, "values", values, { ...counted, ...defined({ nameOf }) });
  if (countsMasked) return input;
  const told = Object.entries({ ...distributions }).filter(([, rows]) => rows !== undefined);
  for (const [name, rows] of told as [string, Rows][]) {
    requireFinite(action, name, rows, { mask, ...defined({ nameOf }) });
  }
  return {
    ...input,
    ...(byToken ? { rewards: masked(rewards, mask) } : {}),
    ...(values ? { values: masked(values, mask) } : {}),
    ...(distributions
      ? {
          distributions: Object.fromEntries(
            told.map(([name, rows]) => [name, masked(rows as Rows, mask)]),
          ),
        }
      : {}),
  };
}

/** What doctor says of estimators that take rewards of turns. */
export const needsTurnRewards = ({ estimator }: RunFacts): Advice => ({
  id: "turns-need-rewards",
  status: "note",
  found: `${estimator} needs rewards of turns: a tool must return one with its result, or the reward function say \`turns\``,
});
