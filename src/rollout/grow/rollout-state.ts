import type { RuleDefinition } from "../rules/definition.js";
import { writtenRule } from "../rules/registry.js";
import type { TokenRanking } from "../branch/family/signals.js";
import type { GenerateOptions, Policy, Sampling, Session } from "../../policy/policy.js";
import { ToolSet } from "../../tools/tool-set.js";
import type { RolloutConfig } from "../settings.js";
import type { CallFormat } from "../../tools/calls/call-format.js";
import { definitionsOf, heldCalls, nativeCalls } from "../native-calls.js";
import type { EntropyBaselines } from "../branch/entropy-baselines.js";
import type { DrawSource, ReadyOptions, RolloutEvent, TrajectoryJudge } from "../options.js";

/** What every tree of one `rollout` call shares. */
export interface RolloutState {
  policy: Policy;
  session: Session;
  tools: ToolSet;
  config: RolloutConfig;
  /** The rule that looks at what was written, where the trees grow by one. */
  rule: RuleDefinition | undefined;
  sampling: Sampling & Pick<GenerateOptions, "constraint">;
  stops: string[];
  /** How calls are written; absent for tags. */
  calls?: CallFormat | undefined;
  signal: AbortSignal;
  draws: DrawSource | undefined;
  keepBaselines: EntropyBaselines | undefined;
  current: Policy | undefined;
  /** What ranks tokens where `expand.signal` is a function. */
  ranking: TokenRanking | undefined;
  judge: TrajectoryJudge | undefined;
  emit: (event: RolloutEvent) => void;
  /** Milliseconds since the rollout began. */
  clock: () => number;
  /** Numbers trajectories across the batch in the order they are made. */
  nextKey: () => number;
  /** Refills that may turn out not to exist are written together. */
  refillsAhead: boolean;
}

/** Puts together what the trees of one call share. */
export function rolloutState(
  policy: Policy,
  config: RolloutConfig,
  options: ReadyOptions,
  signal: AbortSignal,
  /** Descriptions of the tools that the trees' own environments have, by tag. */
  acting: Readonly<Record<string, string>> = {},
): RolloutState {
  const began = performance.now();
  const tools = options.tools ?? new ToolSet();
  const definitions = definitionsOf(tools, acting);
  const calls = nativeCalls(options, policy.tokenizer, definitions);
  let trajectories = 0;
  return {
    policy,
    session: policy.session(),
    tools,
    config,
    rule: config.expand && writtenRule(options.rule),
    sampling: {
      ...(config.mode === "validate" ? config.validation : config.sampling),
      ...(config.strictCalls
        ? { constraint: heldCalls(policy.tokenizer, calls, definitions) }
        : {}),
    },
    // A turn that calls ends as every turn does, unless tags end it.
    stops: calls ? [] : [...tools.stops, ...Object.keys(acting).map((tag) => `</${tag}>`)],
    calls,
    signal,
    draws: options.draws,
    keepBaselines: options.compat?.keepBaselines,
    current: options.current,
    ranking: typeof options.expand?.signal === "function" ? options.expand.signal : undefined,
    judge: options.judge,
    emit: options.onEvent ?? (() => undefined),
    clock: () => performance.now() - began,
    nextKey: () => trajectories++,
    // At an endpoint a segment that is dropped has its price.
    refillsAhead: options.refillsAhead ?? policy.sampler !== "remote",
  };
}
