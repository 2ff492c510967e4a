import { shown } from "../../../common/options/check-arguments.js";
import { Registry } from "../../../common/options/registry.js";
import type { Given, OptionTable } from "../../../common/options/option-table.js";
import { aggregationUnder, type LossDefinition, type LossView } from "./base/definition.js";
import { ceGppo, type ceGppoOptions } from "./ce-gppo.js";
import { cispo } from "./cispo.js";
import { clipCov, type clipCovOptions } from "./clip-cov.js";
import { decoupled, type decoupledOptions } from "./sampler/decoupled.js";
import { dppoKl, dppoTv } from "./dppo.js";
import { dro, type droOptions } from "./dro.js";
import { futureKl, type futureKlOptions } from "./future-kl.js";
import { geoMean } from "./geo-mean.js";
import { gpg } from "./gpg.js";
import { gspo } from "./gspo.js";
import { klCov, type klCovOptions } from "./kl-cov.js";
import { primeIpo, primeRl, type primeRlOptions } from "./sampler/prime-rl.js";
import { sapo, type sapoOptions } from "./sapo.js";
import { gspoTurn, turn } from "./turns.js";
import { luspo, twoSided, type twoSidedOptions } from "./trl/two-sided.js";
import { vanilla } from "./vanilla.js";
import { vespo, type vespoOptions } from "./trl/vespo.js";
import type { aggregationTable, LossSettings, termTable } from "./base/options.js";

/**
 * Every loss. A new one is a definition and its line here: options, checks, configuration keys, presets, stages,
 * exports to verl, doctor's words and the explainer come from it.
 */
const built = [
  ...[vanilla, gspo, cispo, sapo, clipCov, klCov, geoMean, gpg, dro, dppoTv, dppoKl, ceGppo],
  ...[gspoTurn, turn, futureKl, decoupled, primeRl, primeIpo],
  ...[twoSided, luspo, vespo],
] as const;

type Known = (typeof built)[number];

export type LossName = Known["name"];

/** The losses by name: those of the library, and what a program has added. */
export const lossRegistry: Registry<LossDefinition, LossName> = new Registry("loss", built, [
  "tensors",
]);

/**
 * The losses by name, verl's where it has one: `vanilla` is PPO with dual clip (GRPO, ARPO and, with its
 * two switches, AEPO); `geo_mean` is GMPO. The `title` of a loss says which method it is of.
 */
export const lossNames = built.map(({ name }) => name) as unknown as readonly [
  LossName,
  ...LossName[],
];

/** A type in which everything holds that holds of one of several. */
type All<U> = (U extends unknown ? (one: U) => void : never) extends (all: infer A) => void
  ? A
  : never;

type TableOf<D> = D extends { readonly options?: infer T } ? Exclude<T, undefined> : never;

/** What losses of the library can be told alone, by option. */
export type OwnTable = All<TableOf<Known>>;

/** What single losses can be told; `update` and `trainOn` refuse those of a loss that was not chosen. */
export interface LossParameters
  extends
    Given<typeof sapoOptions>,
    Given<typeof clipCovOptions>,
    Given<typeof klCovOptions>,
    Given<typeof droOptions>,
    Given<typeof ceGppoOptions>,
    Given<typeof futureKlOptions>,
    Given<typeof decoupledOptions>,
    Given<typeof primeRlOptions>,
    Given<typeof twoSidedOptions>,
    Given<typeof vespoOptions> {}

/** The options that losses have of their own, those of added losses behind the library's. */
export const ownTable = (): OwnTable =>
  Object.assign({}, ...lossRegistry.all.map(({ options }) => options)) as OwnTable;

/** How a loss is chosen. */
export interface LossChoice {
  /** A name, or a loss of one's own: a definition. Default: `vanilla`. */
  loss?: LossName | LossDefinition;
}

/** Options that name a loss, and beside a loss of one's own the options that it states itself. */
export type WithOwnLoss<O extends LossChoice, T extends OptionTable> = O & {
  /** A name, or a loss of one's own: a definition. Default: `vanilla`. */
  loss?: LossName | LossDefinition<string, T>;
} & NoInfer<Given<T>>;

/** The loss that options choose. */
export const lossOf = ({ loss = "vanilla" }: LossChoice): LossDefinition =>
  lossRegistry.of("choose a loss", "it", loss);

/**
 * Throws for an option that other losses alone read. Where a person names a loss and its options in one call, one of
 * another's is a slip; a configuration has the keys of all losses, and doctor says which are idle.
 */
export function checkLossOptions(action: string, given: object, choice: LossChoice): void {
  const { name: loss, options: own = {} } = lossOf(choice);
  for (const [option, value] of Object.entries(given)) {
    if (value === undefined || Object.hasOwn(own, option)) continue;
    const readers = lossRegistry.all.filter(({ options = {} }) => Object.hasOwn(options, option));
    if (readers.length === 0) continue;
    throw new RangeError(
      `Cannot ${action}: ${option} must be left out beside the loss ${loss}, which does not read it (${readers.map(({ name }) => name).join(", ")}), got ${shown(value)}`,
    );
  }
}

/** What decides how token losses are aggregated. */
export interface AggregationChoice extends LossChoice, Given<typeof aggregationTable> {}

/** How token losses are aggregated: the one place that says so, for losses, passes and views alike. */
export const aggregationOf = (options: AggregationChoice): ReturnType<typeof aggregationUnder> =>
  aggregationUnder(lossOf(options), options);

/** What a loss can be told, its name included. */
export interface PolicyLossOptions extends LossSettings, LossParameters, AggregationChoice {}

type NamesIn<D, K extends "presets" | "views"> =
  D extends Readonly<Record<K, infer R>> ? keyof R & string : never;
type NamesOf<K extends "presets" | "views"> = Known extends infer D
  ? D extends Known
    ? NamesIn<Required<D>, K>
    : never
  : never;

/** Names of methods whose losses are known as published. */
export type LossPreset = NamesOf<"presets">;
/** Names under which the explainer shows losses. */
export type LossViewName = NamesOf<"views">;

const named = <K extends string, T>(entries: readonly [string, T][]) =>
  Object.fromEntries(entries) as Readonly<Record<K, T>>;

/** What a published method sets of an update. */
export interface PublishedUpdate
  extends PolicyLossOptions, Pick<Given<typeof termTable>, "klLossCoefficient" | "klLossKind"> {}

/**
 * The settings of published methods' losses, by the method's name: what their papers' scripts set, where
 * that was read; where nothing is set, the loss's own defaults. To lay over an update's options, or over
 * a preset's.
 */
export const lossPresets = named<LossPreset, PublishedUpdate & { loss: LossName }>(
  built.flatMap(({ name: loss, presets = {} }: LossDefinition<LossName>) =>
    Object.entries(presets).map(([name, set]): [string, PublishedUpdate & { loss: LossName }] => [
      name,
      { loss, ...set },
    ]),
  ),
);

const set: Readonly<Record<string, PublishedUpdate>> = lossPresets;

/** How the explainer shows losses, with the settings that it shows them with. */
export const lossViews = named<
  LossViewName,
  Omit<LossView, "preset"> & { settings: PublishedUpdate }
>(
  built.flatMap(({ name: loss, views = {} }: LossDefinition<LossName>) =>
    Object.entries(views).map(
      ([name, { preset = name, settings, ...view }]): [
        string,
        Omit<LossView, "preset"> & { settings: PublishedUpdate },
      ] => [name, { ...view, settings: { loss, ...set[preset], ...settings } }],
    ),
  ),
);
