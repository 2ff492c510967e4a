import { integer, oneOf, valuesOf } from "../../common/options/check-options.js";
import {
  type Given,
  type Option,
  option,
  rulesOf,
  unset,
} from "../../common/options/option-table.js";
import type { Policy, Segment } from "../policy/policy.js";
import type { ToolOutcome, Tools, ToolSet } from "../tools/tool-set.js";
import type { EnvironmentSource } from "../environments/environment.js";
import { rolloutSettings } from "./settings.js";
import { algorithmPresets, type PresetName } from "./presets.js";
import type { RolloutTreeData } from "./tree/tree-data.js";
import type { Trajectory } from "./tree/trajectory.js";
import {
  type BranchRule,
  type ExpandOptions,
  type ExpansionRule,
  rules,
} from "./rules/registry.js";
import type {
  BranchAttempt,
  EntropyMonitor,
  TrajectoryEnd,
  TrajectoryKind,
} from "./tree/tree-values.js";

/** Says of each of a tree's first trajectories whether it is right. */
export type TrajectoryJudge = (
  trajectories: readonly Trajectory[],
  tree: RolloutTreeData,
) => readonly boolean[] | Promise<readonly boolean[]>;

/** Where the draws of branch attempts come from. */
export type DrawSource = (at: {
  prompt: number;
  trajectory: number;
  round: number;
  attempt: number;
}) => number;

/** What a rollout reports while it runs, in the order things happen. */
export type RolloutEvent =
  | { type: "monitor"; tree: number; monitor: EntropyMonitor }
  | {
      type: "trajectory";
      tree: number;
      trajectory: number;
      kind: TrajectoryKind;
      round: number;
      parent: number;
    }
  | {
      type: "segment";
      tree: number;
      trajectory: number;
      round: number;
      maxTokens: number;
      entropy: number;
      segment: Segment;
    }
  | { type: "call"; tree: number; trajectory: number; round: number; tag: string; input: string }
  | { type: "result"; tree: number; trajectory: number; round: number; outcome: ToolOutcome }
  | { type: "attempt"; tree: number; attempt: BranchAttempt }
  | { type: "end"; tree: number; trajectory: number; end: TrajectoryEnd };

/** Any rule by its name. */
export type RolloutRule = BranchRule | ExpansionRule;

/**
 * What belongs to one call of `rollout`, besides the settings that its trees carry. Here and in every table
 * of options the ones in common use come first: completion and docs/options.md keep that order.
 */
const callOptions = {
  /**
   * The published settings of an algorithm; options given beside it override them. Default: none.
   */
  preset: unset(oneOf(Object.keys(algorithmPresets) as PresetName[])),
  /** By its name, or a definition of your own. Default `arpo-code`. */
  rule: option(rules.rule, "arpo-code"),
  /** The tools a trajectory may call: a list, or a `ToolSet` where they share limits. Default: none. */
  // `toolSetOf` says what is wrong with them.
  tools: unset(valuesOf<Tools>({ must: "a list of tools or a ToolSet", holds: () => true })),
  /**
   * The world that each trajectory acts in, besides its tools: a class or a function that makes an
   * instance. When a trajectory branches, its instance does. Default: none.
   */
  environment: unset(valuesOf<EnvironmentSource>("function?")),
  /**
   * Print nothing. Default: false, a line for each tool that failed, was waited for, or was never called; in `evaluate`
   * also what keeps answers from earning anything.
   */
  quiet: option(valuesOf<boolean>("boolean?"), false),
  /** Stops the rollout with an error that holds the finished trees. Default: none. */
  signal: unset(valuesOf<AbortSignal>("signal?")),
  /** Called with each event while the rollout runs. Default: none. */
  onEvent: unset(valuesOf<(event: RolloutEvent) => void>("function?")),
};

/** What few calls give. */
const rareOptions = {
  /** Settings of a rule that looks at what has been written (`expansionRules`). Default: as published. */
  // The rule says which of them there are: `completeSettings`.
  expand: unset(valuesOf<ExpandOptions>("object?")),
  /**
   * The policy of now, where it may differ from the one that samples, for a rule that ranks tokens by their
   * future. Without it that is not known, and tokens are ranked by entropy alone. Default: none.
   */
  current: unset(valuesOf<Policy>("policy?")),
  /**
   * Which of the first rollouts are right, for a rule that explores a right and a wrong one. Default: none;
   * such a rule needs it.
   */
  judge: unset(valuesOf<TrajectoryJudge>("function?")),
  /**
   * The first task's place in its batch, which names the trees' random streams: a batch may be rolled
   * out in parts. Default 0.
   */
  firstIndex: option(integer(0), 0) satisfies Option<number>,
  /**
   * Trees of these tasks that are complete, by their index (`UnfinishedRollout` has them): they are
   * given back as they are. Not in lockstep, whose trees are not independent. Default: none.
   */
  finished: unset(valuesOf<readonly RolloutTreeData[]>("list?")),
  /** Trees that grow at the same time, to bound memory; changes no tree. Default 64. Not in lockstep. */
  promptsAtOnce: unset(integer(1)),
  /**
   * When no trajectory continues, the first segments of all new root trajectories that may follow are
   * written together, and those whose place a branch takes are dropped; changes no tree. Default: on,
   * unless the policy is at an endpoint, where what is dropped costs as much as what is kept.
   */
  refillsAhead: unset(valuesOf<boolean>("boolean?")),
  /** Replaces the named random streams of branch attempts. Default: streams of `seed`. */
  draws: unset(valuesOf<DrawSource>("function?")),
};

/** The settings of a rollout. In brackets the names of the reference's configuration. */
export interface RolloutOptions
  extends Given<typeof callOptions>, Given<typeof rolloutSettings>, Given<typeof rareOptions> {}

/** What every option of a rollout may be. */
export const rolloutRules = {
  ...rulesOf(callOptions),
  ...rulesOf(rolloutSettings),
  ...rulesOf(rareOptions),
};

/** Options whose preset is laid below them and whose tools are a set. */
export type ReadyOptions = Omit<RolloutOptions, "preset" | "tools"> & { tools?: ToolSet };

const answers = [
  ...(["tools", "environment", "sampling", "responseLength"] as const),
  ...(["callLimit", "promptLimit", "seed", "signal", "quiet"] as const),
  ...(["calls", "describe"] as const),
] as const;

/** The options of a rollout that evaluations and measurements share: how a policy answers one task. */
export type AnswerOptions = Pick<RolloutOptions, (typeof answers)[number]>;

/** What each of these may be. */
export const answerRules = Object.fromEntries(
  answers.map((name) => [name, rolloutRules[name]]),
) as Pick<typeof rolloutRules, (typeof answers)[number]>;
