import { defined } from "../../common/options/defined.js";
import {
  either,
  finite,
  integer,
  oneOf,
  optionsOf,
  required,
  share,
  valuesOf,
} from "../../common/options/check-options.js";
import {
  type Complete,
  completed,
  completing,
  type Following,
  following,
  type Given,
  group,
  key,
  type Named,
  option,
  type Option,
  rulesOf,
} from "../../common/options/option-table.js";
import { truncations } from "../tasks/fit-prompt.js";
import { samplingRules } from "../policy/check-generate.js";
import type { Sampling } from "../policy/policy.js";
import type { EntropyBaselines } from "./branch/entropy-baselines.js";
import { type EntropyOptions, entropyTable } from "./branch/segment-entropy.js";
import type { CallFormat } from "../tools/calls/call-format.js";
import type { CallDialect } from "../tools/calls/dialects/definition.js";
import { type CallDialectName, callsRule } from "../tools/calls/dialects/registry.js";
import { slips } from "./branch/slips.js";
import type { PromptLimit } from "./task.js";

const flag = valuesOf<boolean>("boolean?");
const samplingRule = optionsOf<Sampling>(samplingRules);
const greedy: Sampling = { temperature: 0, topP: 1, topK: -1, minP: 0 };
/** An option that is kept where it is on. */
const noted: Option<boolean, true | undefined> = completing(flag, (on) => on || undefined);

export const dynamicTable = {
  /** `initial_entropy_tokens`: the root generation's length. Default 50. */
  tokens: option(
    integer(1),
    50,
    key("actor_rollout_ref.rollout.initial_entropy_tokens", "AEPO: tokens of the root generation", {
      most: 1_000_000,
      loop: "root_tokens",
    }),
  ),
  /** Factor of the entropies' difference. Default 0.5, as the code; the paper does not state its value. */
  beta: option(finite, 0.5),
  /** `code` truncates and adds one; `paper` rounds n times the sigmoid. Default: `code`. */
  formula: option(oneOf(["code", "paper"]), "code"),
  /** Leave the probe's first segment, written before any tool call, out of the mean (the paper). Default: false. */
  excludeFirst: option(flag, false),
};

/** AEPO's entropy pre-monitoring (`enable_dynamic_rollouts`). */
export interface DynamicRollouts extends Given<typeof dynamicTable>, Named {}

const compatTable = {
  /** A call without an opening tag of its own may find one in the prompt. Default: false. */
  searchPrompt: option(flag, false),
  /** A response without an end token is attended to its padded end. Used by `padTrajectories`. Default: false. */
  attendPadding: option(flag, false),
  /**
   * The reference never clears its table of initial entropies: hand the same object to one call after
   * another. Trajectories are numbered across the batch, so it needs `scheduling: "lockstep"`.
   */
  keepBaselines: completing(valuesOf<EntropyBaselines>("object?"), () => undefined),
  /** The begin token that Llama-type tokenizers put before every tool result. */
  resultBegin: completing(integer(0), (id) => id),
};

/** Behaviours of the reference that are off unless asked for. A rule adds its own, beside its definition. */
export interface RolloutCompat extends Given<typeof compatTable>, Named {}

const withSlips = () => ({
  ...compatTable,
  ...Object.fromEntries(slips.names.map((name) => [name, noted])),
});

/** Rules may be added later: what there is to ask for is looked up at each check. */
const compatOption: Option<RolloutCompat, Complete<typeof compatTable>> = {
  rule: {
    ...valuesOf<RolloutCompat>("object?"),
    get fields() {
      return rulesOf(withSlips());
    },
  },
  complete: (given) => completed(withSlips(), given ?? {}, {}),
};

/** The settings of a rollout that a tree carries, to be made again. In brackets the names of the reference's configuration. */
export const rolloutSettings = {
  /** Trajectories per prompt (`n`). Default 1. */
  n: following(
    integer(1),
    key("actor_rollout_ref.rollout.n", "Trajectories per prompt", { by: 1, most: 65_536 }),
  ),
  /** Trajectories each prompt starts with (`initial_rollouts`). Default: n. */
  initialRollouts: following(
    integer(1),
    key(
      "actor_rollout_ref.rollout.initial_rollouts",
      "Trajectories per prompt at the start; the rest branch off",
      { by: 1, most: 65_536, loop: "initial_rollouts" },
    ),
  ),
  /** A surviving trajectory may branch up to beamSize - 1 times a round (`beam_size`). Default 1. */
  beamSize: following(
    integer(1),
    key(
      "actor_rollout_ref.rollout.beam_size",
      "A surviving trajectory tries beam_size - 1 branches a round",
      { by: 1, most: 65_536, loop: "beam_size" },
    ),
  ),
  /**
   * Attempts per surviving trajectory and round, where a source counts them otherwise. Default:
   * beamSize - 1.
   */
  attemptsPerTrajectory: following(integer(0)) satisfies Following<number, number>,
  /** Base probability of the branching rule (`branch_probability`). Default 0.5. */
  branchProbability: option(
    share,
    0.5,
    key(
      "actor_rollout_ref.rollout.branch_probability",
      "Base probability p of the branching rule",
      { loop: "branch_probability" },
    ),
  ),
  /** Weight of the entropy's change in the branching rule (`entropy_weight`). Default 0.5. */
  entropyWeight: option(
    finite,
    0.5,
    key(
      "actor_rollout_ref.rollout.entropy_weight",
      "Weight w of the entropy change in the branching rule",
      { loop: "entropy_weight" },
    ),
  ),
  /** tau of the papers' rules. Default 0.5. */
  threshold: option(finite, 0.5),
  /** What each consecutive branching takes off in the AEPO rules. Default 0.05. */
  penaltySlope: option(finite, 0.05),
  /**
   * Consecutive branchings are counted per prompt (the code) or along each path (the paper).
   * Default: `prompt`.
   */
  penalty: option(oneOf(["prompt", "path"]), "prompt"),
  /**
   * How a segment's entropy is measured. Default: as the reference, 20 positions with 10 tokens
   * each.
   */
  entropy: group<EntropyOptions, Required<EntropyOptions>>(entropyTable),
  /**
   * The branch test looks at the segment that ended with the call (the code) or at what the
   * trajectory goes on to write after the result (the paper; those tokens are generated once more
   * for it). Default: `before-result`.
   */
  entropyTiming: option(oneOf(["before-result", "after-result"]), "before-result"),
  /**
   * A branch is compared with its own first segment (the code) or with its ancestor's (the paper).
   * Default: `own`.
   */
  baseline: option(oneOf(["own", "ancestor"]), "own"),
  /** AEPO's pre-monitoring decides `initialRollouts`. Default: off. */
  dynamicRollouts: completing(
    either("boolean", optionsOf<DynamicRollouts>(rulesOf(dynamicTable))),
    (given): Required<DynamicRollouts> | false =>
      given ? completed(dynamicTable, given === true ? {} : given, {}) : false,
  ),
  /** Longest prompt, and what becomes of a longer one. Default: any length the policy takes. */
  promptLimit: completing(
    optionsOf<PromptLimit>({
      length: required(integer(1)),
      truncation: required(oneOf(truncations)),
    }),
    (given): PromptLimit | undefined => given && { ...given },
  ),
  /** Longest response in tokens, tool results included (`max_response_length`). Default 512. */
  responseLength: option(
    integer(1),
    512,
    key(
      "actor_rollout_ref.rollout.response_length",
      "Longest response; follows data.max_response_length",
      { most: 1_000_000 },
    ),
  ),
  /** Calls per trajectory (`call_limit`). Default: the tool set's; without one, 16 in an environment. */
  callLimit: following(
    integer(0),
    key("actor_rollout_ref.rollout.tools.call_limit", "Most tool calls of one trajectory", {
      by: 3,
      most: 1_000_000,
      loop: "call_limit",
    }),
  ),
  /**
   * `validate`: one trajectory per prompt, no branching, sampled as `validation` says. Default:
   * `train`.
   */
  mode: option(oneOf(["train", "validate"]), "train"),
  /**
   * How tokens are sampled: temperature, topK, topP, minP. Default: temperature 1, nothing cut off.
   */
  sampling: completing(samplingRule, (given): Sampling => ({ ...given })),
  /** How tokens are sampled where `mode` is `validate`. Default: greedy. */
  validation: completing(samplingRule, (given): Sampling => ({
    ...greedy,
    ...defined({ ...given }),
  })),
  /**
   * `prompt` (default): each prompt is rolled out as if it were alone, trajectories continue as soon as their
   * tool has answered, and no tree depends on the rest of the batch. `lockstep`: the reference's
   * rounds over the whole batch, with one shared token limit and one update of the penalty.
   */
  scheduling: option(oneOf(["prompt", "lockstep"]), "prompt"),
  /** Behaviours of the reference that are off unless asked for. Default: none. */
  compat: compatOption,
  /** Keep the alternatives the policy reported for every position. Default true. */
  keepTop: option(flag, true),
  /**
   * How the model writes calls: `tags` (`<python>1+1</python>`), `hermes` (Qwen's `<tool_call>`), `json`
   * (Llama 3.1), `xml` (Qwen3-Coder), or `auto`, what the tokenizer's chat template shows. All but `tags` put
   * the tools into the prompt and results into the template's own words; the prompt must be a chat. Default
   * `tags`.
   */
  calls: completing(
    valuesOf<"auto" | CallDialectName | CallDialect | CallFormat>(callsRule),
    (calls): string | undefined => {
      const name = typeof calls === "object" ? calls.name : calls;
      return name === "tags" ? undefined : name;
    },
  ),
  /**
   * Hold calls to the schemas of their tools while they are written: each is JSON that its tool takes. For `hermes` and
   * `json`, and a policy in this process. A token that nothing else could stand for is not trained on. Default: false.
   */
  strictCalls: completing(
    flag,
    (on): true | undefined => on || undefined,
    key(
      "actor_rollout_ref.rollout.tools.strict_calls",
      "Hold calls to the schemas of their tools while they are written",
      { by: false },
    ),
  ),
  /**
   * Tell the model of the tools: by the chat template where that shows tools and `calls` leaves it free, else in the
   * system message. Default: where the model was not trained to call by tags and no system message names a tag.
   */
  describe: completing(
    flag,
    (): undefined => undefined,
    key(
      "actor_rollout_ref.rollout.tools.describe",
      "Tell the model of the tools in the prompt; unset: where it was not trained to call by tags and no system message names a tag",
    ),
  ),
  /** The same seed gives the same trees. Default 0. */
  seed: option(integer(0), 0),
};

/**
 * A rule that looks at what was written, with its settings, complete: plain data, that its definition reads.
 * Trees are below the rules that grow them and do not know which there are.
 */
export interface Expansion {
  rule: string;
  readonly [setting: string]: unknown;
}

/** The settings of a rollout, complete: what a tree carries to be made again. */
export interface RolloutConfig extends Complete<typeof rolloutSettings> {
  /** The name of the rule. */
  rule: string;
  /** Set where the rule is one that looks at what has been written: its settings, complete. */
  expand?: Readonly<Record<string, unknown>>;
  /** The tags of the tools. */
  tools: string[];
}

/** What a rule that looks at what has been written is set to; undefined where the rule is another. */
export const expansionOf = ({
  rule,
  expand,
}: Pick<RolloutConfig, "rule" | "expand">): Expansion | undefined => expand && { rule, ...expand };
