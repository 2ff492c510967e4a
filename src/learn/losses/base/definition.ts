import {
  type Complete,
  completed,
  type Given,
  type OptionTable,
  rulesOf,
} from "../../../../common/options/option-table.js";
import type { Advice } from "../../../../common/options/setting.js";
import type { Tensor } from "./aggregate.js";
import * as f from "./formula.js";
import type {
  AggregationRule,
  aggregationTable,
  LossAggregation,
  LossSettings,
} from "./options.js";
import type { PolicyLoss, PolicyLossInput, TensorOps } from "./tensor-ops.js";
import type { TokenRule } from "./token-rule.js";

/** What there is to know of a loss without computing it. */
export interface LossFacts {
  /** verl's name of it, where it has one. */
  readonly name: string;
  readonly title: string;
  /** How its token losses become one number where nobody says. */
  readonly aggregation: LossAggregation;
  /** It has its own way and takes no other; `sum`: the line that adds its losses up. */
  readonly ownAggregation?: true | { readonly sum: string };
  /** Whose arithmetic that is: see `aggregationRules`. */
  readonly rule: AggregationRule;
  /** What its clip bounds are laid on; without one they change nothing. */
  readonly clips?: "ratio" | "log ratio" | "divergence";
  /** Its bounds say what a token weighs and drop none, so that they may be wide. */
  readonly weighs?: true;
  /** Whose ratio it is where it is not the token's own. */
  readonly ratioOf?: "row" | "turn";
  /** It reads clipRatioC. */
  readonly readsC?: true;
  /** Those of its own options that somebody must give: there is no value to take in their place. */
  readonly needs?: readonly string[];
  /** It looks at a token's probability, not at its ratio alone. */
  readonly readsProbability?: true;
  /**
   * What it asks for besides: the turns of the trajectories, draws, what the sampler said. One that asks for the
   * sampler corrects for it itself.
   */
  readonly asks?: "turns" | "draws" | "sampler";
  /** verl 0.9.1 has it, under the same name. */
  readonly verl?: true;
  /** A Tinker server computes it token for token as here, under this name. */
  readonly tinker?: string;
}

/** What a tensor form computes with. */
export interface LossOps extends TensorOps {
  /** Token losses under a rollout correction's weights, aggregated as the loss is; `unweighed`: without those. */
  total: (
    losses: Tensor,
    how?: {
      mask?: Tensor;
      unweighed?: boolean;
      ruleOf?: (mode: LossAggregation) => AggregationRule | undefined;
    },
  ) => Tensor;
}

/** What a published method sets of its loss. */
type Published<T extends OptionTable> = Omit<LossSettings, "referenceNaN"> & {
  aggregation?: LossAggregation;
} & Given<T>;

/** A loss as the explainer lays it over a batch. */
export interface LossView {
  readonly label: string;
  readonly summary: string;
  /** The estimator of its advantages. Default: `grpo`. */
  readonly estimator?: "gpg";
  /** The preset whose settings it is shown with. Default: the one of the view's name. */
  readonly preset?: string;
  /** Settings over those of the preset. */
  readonly settings?: object;
}

/** What a loss is told, complete: what all losses are told, and its own. */
export type SettingsOf<T extends OptionTable> = string extends keyof T
  ? LossSettings
  : LossSettings & Complete<T>;

/** What doctor knows of a run that it asks a loss about. */
export interface LossRun extends LossSettings {
  aggregation?: LossAggregation;
}

/** A loss: everything that the library knows of it. */
export interface LossDefinition<
  Name extends string = string,
  T extends OptionTable = OptionTable,
  P extends string = string,
  V extends string = string,
>
  extends LossFacts, TokenRule<SettingsOf<T>> {
  /** Whether settings need no log-probabilities from before the update: the sampler's stand for them. */
  unmeasured?(settings: SettingsOf<T>): boolean;
  readonly name: Name;
  /** What it alone can be told, with verl's keys. */
  readonly options?: T;
  /** Its settings in published runs, by the method. */
  readonly presets?: { readonly [K in P]: Published<NoInfer<T>> };
  /** How the explainer shows it. */
  readonly views?: { readonly [K in V]: LossView };
  /** A differentiable scalar and its figures. */
  tensors(input: PolicyLossInput, settings: SettingsOf<T>, ops: LossOps): PolicyLoss;
  /** What the explainer shows between the advantage and the gradient. Default: its title. */
  formula?(settings: SettingsOf<T>): f.FormulaLine[];
  readonly gradient?: {
    /** The lines that say what is left of a token's gradient. */
    readonly code: readonly string[];
    /** The advantage in it is the loss's own. */
    ownAdvantage?(settings: SettingsOf<T>): boolean;
    /** The loss pulls back besides. */
    readonly hold?: true;
  };
  /** What doctor says of a run with it. */
  advice?(run: LossRun): Advice[];
}

/**
 * A loss of one's own: `update` takes it in place of a name, with its options beside it. `lossRegistry.add` makes it
 * known by its name, before a configuration is first read.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { defineLoss, option, positive } from "arpo-lab/experimental/learn";
 * import { tokenUpdate } from "arpo-lab/learn";
 *
 * const pull = defineLoss({
 *   name: "pull",
 *   title: "Pulled back",
 *   aggregation: "token-mean",
 *   rule: "verl-0.9.1",
 *   options: { pullBack: option(positive, 0.5) },
 *   // The policy gradient, and a spring back to where the token was.
 *   tensors({ logprobs, oldLogprobs, advantages, ...input }, { pullBack }, { total, figures }) {
 *     const moved = logprobs.sub(oldLogprobs);
 *     const losses = moved.square().mul(pullBack / 2).sub(logprobs.mul(advantages));
 *     const all = { logprobs, oldLogprobs, advantages, ...input };
 *     return { loss: total(losses), metrics: figures(all, moved) };
 *   },
 *   token: ({ ratio, logRatio, logprob, advantage }, _, { pullBack }) => ({
 *     ...{ ratio, region: "inside", used: advantage, weight: 1, hold: pullBack * logRatio },
 *     loss: (pullBack / 2) * logRatio ** 2 - advantage * logprob,
 *   }),
 * });
 * const how = { loss: pull, pullBack: 2 };
 * assert.deepEqual(tokenUpdate(1, 1, how), { ratio: 1, region: "inside", weight: 1, hold: 0 });
 * const slip = { ...how, pulBack: 1 };
 * assert.throws(() => tokenUpdate(1, 1, slip), /got pulBack; did you mean pullBack\?/);
 * ```
 */
export const defineLoss = <
  const Name extends string,
  const T extends OptionTable = Record<never, never>,
  const P extends string = never,
  const V extends string = never,
>(
  definition: LossDefinition<Name, T, P, V>,
): LossDefinition<Name, T, P, V> => definition;

/** What may be said to a loss alone. */
export const ownRules = ({ options = {} }: LossDefinition) => rulesOf(options);

/** What a loss computes with: its own options complete, all others as they were given. */
export function settingsOf<O extends LossSettings>(
  { options = {} }: LossDefinition,
  given: O,
): O & Complete<OptionTable> {
  return { ...given, ...completed(options, given as Given<OptionTable>, {}) };
}

/** How the token losses of a loss are aggregated. */
export const aggregationUnder = (
  { ownAggregation, aggregation, rule }: LossFacts,
  given: Given<typeof aggregationTable>,
): { mode: LossAggregation; rule: AggregationRule } =>
  ownAggregation
    ? { mode: aggregation, rule: given.aggregationRule ?? rule }
    : { mode: given.aggregation ?? aggregation, rule: given.aggregationRule ?? rule };

/** The options that a loss needs, and that nobody gave. */
export const missingOf = ({ needs = [] }: LossDefinition, given: object): string[] =>
  needs.filter((name) => (given as Readonly<Record<string, unknown>>)[name] === undefined);

/** The formula of a loss; one that says none shows its title. */
export const formulaOf = (definition: LossDefinition, settings: LossSettings): f.FormulaLine[] =>
  definition.formula?.(settingsOf(definition, settings)) ?? [
    f.line(definition.title, f.math(f.loss)),
  ];
