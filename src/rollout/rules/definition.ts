import type { Advice, RunFacts, SettingTable, ValuesOf } from "../../../common/options/setting.js";
import type { Random } from "../../base/random/random.js";
import type { Choice, RoundState } from "../expand/choice.js";
import type { Chain } from "../expand/path-tokens.js";
import type { PlannedChain, Reading } from "../expand/plan-chains.js";
import type { Slip } from "../branch/slips.js";

/** Trajectories of a prompt, and those that it starts with. */
export interface Trajectories {
  n?: number;
  initialRollouts?: number;
}

/** What a replay says of a place that a rule chose. */
export interface ChosenPlace {
  score: number;
  token: number | undefined;
  /** Whether another policy says what follows. */
  hasFuture: boolean;
}

/** What a trajectory drew, token by token. */
export interface DrawnTrajectory {
  readonly texts: readonly string[];
  readonly entropies: readonly number[];
  readonly logprobs: readonly number[];
  /** ln p under a policy that has been trained on since, where there is one. */
  readonly current: readonly number[] | undefined;
}

/** What there is of a rule besides how it grows a tree. */
interface RuleFacts<Name extends string, T extends SettingTable, S> {
  /** The rule's name in options, configurations and trees. */
  readonly name: Name;
  /** What a page calls it. */
  readonly title: string;
  /** Where it branches, in a few words. */
  readonly words: string;
  /** Every setting with its published value, what it may be, and what help says of it. */
  readonly settings: T;
  /** What several settings must say together; `expand.` stands before each name. */
  fault?(settings: S): string | undefined;
  /** Trajectories that the settings fix. */
  trajectories?(settings: S): Trajectories;
  /** Those of the published runs, where the settings leave them open. */
  readonly usual?: Trajectories;
  /**
   * Options of the published runs besides, where a preset has the rule's name; `rule-only` for one that is
   * a rule and no algorithm.
   */
  readonly preset?: object | "rule-only";
  /** Errors of its published code that `compat` may ask for; `RolloutCompat` is told of them beside the definition. */
  readonly slips?: readonly Slip[];
  /** It looks at what tokens say. */
  readonly readsText?: true;
  /** It asks what a policy of now says of the first trajectories, where there is one. */
  readonly readsFuture?: true;
  /** The token that it would continue after first, in a trajectory by itself; measured beside other rules. */
  firstAfter?(drawn: DrawnTrajectory): number | undefined;
  /** It may spend the whole budget on one trajectory: the order in which it takes places. */
  spendsBudget?<C extends { strict: boolean; score: number }>(places: readonly C[]): C[];
  /** It asks which of the first trajectories are right: what for. */
  readonly judge?: string;
  /** It asks of all trajectories so far, in every round and before it keeps some. */
  readonly judgesRounds?: true;
  /** Which of the first trajectories it starts from, by what the judge said. Default: all. */
  bases?(right: readonly boolean[], settings: S): number[];
  /** Places of one trajectory that it may ask for. Default: n. */
  wanted?(settings: S): number;
  /** What it needs of a trajectory to choose in it. Default: nothing. */
  plan?(chain: Chain, settings: S, reading: Reading): Partial<PlannedChain>;
  /** Why it chose a place. */
  why(settings: S, place: ChosenPlace): string;
  /** What doctor says of a run with it. */
  advice?(run: RunFacts, settings: S): Advice[];
}

/** A rule that looks at whole chains: some trajectories to their end, then others that leave them. */
export interface ChainRule<S> {
  /** Where it continues from in a round, in order; each choice makes one trajectory. */
  choose(settings: S, chains: readonly PlannedChain[], state: RoundState): Choice[];
  /** The trajectories that training uses, in its order. Default: all. */
  keep?(
    settings: S,
    chains: readonly PlannedChain[],
    how: { n: number; random: Random } & Pick<RoundState, "right">,
  ): number[];
  /** Where too few places were found, trajectories from the prompt make up for it. Default: true. */
  readonly fills?: false;
}

/** Paths of one prompt after a step. */
export interface PathsNow {
  /** Unfinished paths: tokens so far, the whole segments behind them, and ln p of what was drawn. */
  going: readonly { step: number; logprobs: ArrayLike<number> }[];
  /** Finished in this step, and in all. */
  finished: number;
  finishedInAll: number;
  width: number;
}

/** A finished path that is gone back into. */
export interface Return {
  trajectory: number;
  at: number;
}

/** A rule that continues paths after every segment of `settings.segment` tokens. */
export interface SegmentRule<S> {
  readonly segments: {
    /** Trajectories that a prompt starts with. */
    first(settings: S, at: { width: number; random: Random; misplaced: boolean }): number;
    /** How many continuations each unfinished path gets; the path itself is the first of them. */
    continuations(settings: S, now: PathsNow): number[];
    /** Segments with an end; the one behind them is of any length. Default: all. */
    cut?(settings: S): number;
    /** Segments of a path. Default: any number. */
    depth?(settings: S): number;
    /** Where no path is left and fewer than wanted are finished. Default: that is all. */
    back?(
      settings: S,
      finished: readonly Pick<Chain, "id" | "start" | "length" | "nodes">[],
      how: { wanted: number; random: Random },
    ): Return[];
  };
}

/**
 * A rule that looks at what was written and says where the tree continues from: everything that the library
 * knows of it. A new rule is a definition and its line in the registry, or is given to `rollout` as it is.
 */
export type RuleDefinition<
  Name extends string = string,
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- rules of all settings stand in one list
  T extends SettingTable = any,
  S = ValuesOf<T>,
> = RuleFacts<Name, T, S> & (ChainRule<S> | SegmentRule<S>);

/** The sizes of a rule's segments. */
export const segmentsOf = <S>(
  { segments }: SegmentRule<S>,
  settings: S & { segment?: unknown },
) => ({
  segment: settings.segment as number,
  cut: segments.cut?.(settings) ?? Infinity,
  depth: segments.depth?.(settings) ?? Infinity,
});

type FirstAfter = (drawn: DrawnTrajectory) => number | undefined;

/** What the type of a rule says of it besides, so that types of names can be read from the registry. */
type Said<P, F> = (P extends undefined ? unknown : { readonly preset: P }) &
  (F extends undefined ? unknown : { firstAfter: F });

/** A rule, with the types of its settings read from their table. */
export const defineRule = <
  const Name extends string,
  const T extends SettingTable,
  const P extends object | "rule-only" | undefined = undefined,
  F extends FirstAfter | undefined = undefined,
>(
  definition: RuleDefinition<Name, T> & { readonly preset?: P; readonly firstAfter?: F },
): RuleDefinition<Name, T> & Said<P, F> => definition as RuleDefinition<Name, T> & Said<P, F>;
