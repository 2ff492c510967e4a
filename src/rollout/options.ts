import type { Policy, Sampling, Segment } from "../policy/policy.js";
import type { ToolOutcome, Tools, ToolSet } from "../tools/tool-set.js";
import type { CallFormat, CallFormatName } from "../tools/calls/call-format.js";
import type { EnvironmentSource } from "../environment/environment.js";
import type { DynamicRollouts } from "./settings.js";
import type { PresetName } from "./presets.js";
import type { PromptLimit } from "./task.js";
import type { RolloutTreeData } from "./tree/tree-data.js";
import type { Trajectory } from "./tree/trajectory.js";
import type { BranchRule } from "./branch/branch-rule.js";
import type { RuleDefinition } from "./rules/definition.js";
import type { ExpandOptions, ExpansionRule } from "./rules/registry.js";
import type { EntropyBaselines } from "./branch/entropy-baselines.js";
import type { EntropyOptions } from "./branch/segment-entropy.js";
import type {
  BranchAttempt,
  EntropyMonitor,
  TrajectoryEnd,
  TrajectoryKind,
} from "./tree/tree-values.js";

/** Behaviours of the reference that are off unless asked for. */
export interface RolloutCompat {
  /** A call without an opening tag of its own may find one in the prompt. */
  searchPrompt?: boolean;
  /** A response without an end token is attended to its padded end. Used by `padTrajectories`. */
  attendPadding?: boolean;
  /**
   * The reference never clears its table of initial entropies: hand the same object to one call after
   * another. Trajectories are numbered across the batch, so it needs `scheduling: "lockstep"`.
   */
  keepBaselines?: EntropyBaselines;
  /** `appo`: tokens behind a tool's result are paired with the log-probabilities of later ones. */
  appoAlignment?: boolean;
  /** `appo`: without `current`, the sampler's own weights are read again; only rounding differs. */
  appoMismatch?: boolean;
  /** `treepo`: the key for a wider first step is put where nobody reads it. */
  treepoFirstStep?: boolean;
  /** The begin token that Llama-type tokenizers put before every tool result. */
  resultBegin?: number;
}

/** Any rule by its name. */
export type RolloutRule = BranchRule | ExpansionRule;

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

/** The settings of a rollout. In brackets the names of the reference's configuration. */
export interface RolloutOptions {
  /**
   * The published settings of an algorithm; options given beside it override them. Default: none.
   */
  preset?: PresetName;
  /** Trajectories per prompt (`n`). Default 1. */
  n?: number;
  /** Trajectories each prompt starts with (`initial_rollouts`). Default: n. */
  initialRollouts?: number;
  /** A surviving trajectory may branch up to beamSize - 1 times a round (`beam_size`). Default 1. */
  beamSize?: number;
  /**
   * Attempts per surviving trajectory and round, where a source counts them otherwise. Default:
   * beamSize - 1.
   */
  attemptsPerTrajectory?: number;
  /** By its name, or a definition of your own. Default `arpo-code`. */
  rule?: RolloutRule | RuleDefinition;
  /** Settings of a rule that looks at what has been written (`expansionRules`). Default: as published. */
  expand?: ExpandOptions;
  /**
   * `appo`: the policy of now, where it may differ from the one that samples. Without it the future
   * of a token is not known, and tokens are ranked by entropy alone. Default: none.
   */
  current?: Policy;
  /**
   * Which of the first rollouts are right, for a rule that explores a right and a wrong one. Default: none;
   * such a rule needs it.
   */
  judge?: TrajectoryJudge;
  /** `branch_probability`. Default 0.5. */
  branchProbability?: number;
  /** `entropy_weight`. Default 0.5. */
  entropyWeight?: number;
  /** tau of the papers' rules. Default 0.5. */
  threshold?: number;
  /** What each consecutive branching takes off in the AEPO rules. Default 0.05. */
  penaltySlope?: number;
  /**
   * Consecutive branchings are counted per prompt (the code) or along each path (the paper).
   * Default: `prompt`.
   */
  penalty?: "prompt" | "path";
  /**
   * How a segment's entropy is measured. Default: as the reference, 20 positions with 10 tokens
   * each.
   */
  entropy?: EntropyOptions;
  /**
   * The branch test looks at the segment that ended with the call (the code) or at what the
   * trajectory goes on to write after the result (the paper; those tokens are generated once more
   * for it). Default: `before-result`.
   */
  entropyTiming?: "before-result" | "after-result";
  /**
   * A branch is compared with its own first segment (the code) or with its ancestor's (the paper).
   * Default: `own`.
   */
  baseline?: "own" | "ancestor";
  /** AEPO's pre-monitoring decides `initialRollouts`. Default: off. */
  dynamicRollouts?: boolean | DynamicRollouts;
  /** Longest prompt, and what becomes of a longer one. Default: any length the policy takes. */
  promptLimit?: PromptLimit;
  /** Longest response in tokens, tool results included (`max_response_length`). Default 512. */
  responseLength?: number;
  /** Calls per trajectory (`call_limit`). Default: the tool set's; without one, 16 in an environment. */
  callLimit?: number;
  /**
   * How tokens are sampled: temperature, topK, topP, minP. Default: temperature 1, nothing cut off.
   */
  sampling?: Sampling;
  /**
   * `validate`: one trajectory per prompt, no branching, sampled as `validation` says. Default:
   * `train`.
   */
  mode?: "train" | "validate";
  /** Default: greedy. */
  validation?: Sampling;
  /** The tools a trajectory may call: a list, or a `ToolSet` where they share limits. Default: none. */
  tools?: Tools;
  /**
   * The world that each trajectory acts in, besides its tools: a class or a function that makes an
   * instance. When a trajectory branches, its instance does. Default: none.
   */
  environment?: EnvironmentSource;
  /**
   * How the model writes calls: `tags` (`<python>1+1</python>`), `hermes` (Qwen's `<tool_call>`), `json`
   * (Llama 3.1), `xml` (Qwen3-Coder), or `auto`, what the tokenizer's chat template shows. All but `tags` put
   * the tools into the prompt and results into the template's own words; the prompt must be a chat. Default
   * `tags`.
   */
  calls?: "auto" | "tags" | CallFormatName | CallFormat;
  /** Default 0. */
  seed?: number;
  /**
   * The first task's place in its batch, which names the trees' random streams: a batch may be rolled
   * out in parts. Default 0.
   */
  firstIndex?: number;
  /**
   * `prompt` (default): each prompt is rolled out as if it were alone, trajectories continue as soon as their
   * tool has answered, and no tree depends on the rest of the batch. `lockstep`: the reference's
   * rounds over the whole batch, with one shared token limit and one update of the penalty.
   */
  scheduling?: "prompt" | "lockstep";
  /**
   * Trees of these tasks that are complete, by their index (`UnfinishedRollout` has them): they are
   * given back as they are. Not in lockstep, whose trees are not independent. Default: none.
   */
  finished?: readonly RolloutTreeData[];
  /** Trees that grow at the same time, to bound memory; changes no tree. Default 64. Not in lockstep. */
  promptsAtOnce?: number;
  /**
   * When no trajectory continues, the first segments of all new root trajectories that may follow are
   * written together, and those whose place a branch takes are dropped; changes no tree. Default: on,
   * unless the policy is at an endpoint, where what is dropped costs as much as what is kept.
   */
  refillsAhead?: boolean;
  /** Behaviours of the reference that are off unless asked for. Default: none. */
  compat?: RolloutCompat;
  /** Keep the alternatives the policy reported for every position. Default true. */
  keepTop?: boolean;
  /** Replaces the named random streams of branch attempts. Default: streams of `seed`. */
  draws?: DrawSource;
  /** Stops the rollout with an error that holds the finished trees. Default: none. */
  signal?: AbortSignal;
  /** Called with each event while the rollout runs. Default: none. */
  onEvent?: (event: RolloutEvent) => void;
}

/** Options whose preset is laid below them and whose tools are a set. */
export type ReadyOptions = Omit<RolloutOptions, "preset" | "tools"> & { tools?: ToolSet };

/** The options of a rollout that evaluations and measurements share: how a policy answers one task. */
export type AnswerOptions = Pick<
  RolloutOptions,
  | "tools"
  | "environment"
  | "sampling"
  | "responseLength"
  | "callLimit"
  | "promptLimit"
  | "seed"
  | "signal"
>;
