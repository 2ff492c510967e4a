import type { Policy, Sampling, Session } from "../../policy/policy.js";
import { ToolSet } from "../../tools/tool-set.js";
import type { RolloutConfig } from "../settings.js";
import type { EntropyBaselines } from "../branch/entropy-baselines.js";
import type { DrawSource, ReadyOptions, RolloutEvent, TrajectoryJudge } from "../options.js";

/** What every tree of one `rollout` call shares. */
export interface Environment {
  policy: Policy;
  session: Session;
  tools: ToolSet;
  config: RolloutConfig;
  sampling: Sampling;
  stops: string[];
  signal: AbortSignal;
  draws: DrawSource | undefined;
  keepBaselines: EntropyBaselines | undefined;
  current: Policy | undefined;
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
export function environment(
  policy: Policy,
  config: RolloutConfig,
  options: ReadyOptions,
  signal: AbortSignal,
  /** Tags of the tools that the trees' own environments have. */
  tags: readonly string[] = [],
): Environment {
  const began = performance.now();
  const tools = options.tools ?? new ToolSet();
  let rows = 0;
  return {
    policy,
    session: policy.session(),
    tools,
    config,
    sampling: config.mode === "validate" ? config.validation : config.sampling,
    stops: [...tools.stops, ...tags.map((tag) => `</${tag}>`)],
    signal,
    draws: options.draws,
    keepBaselines: options.compat?.keepBaselines,
    current: options.current,
    judge: options.judge,
    emit: options.onEvent ?? (() => undefined),
    clock: () => performance.now() - began,
    nextKey: () => rows++,
    // At an endpoint a segment that is dropped has its price.
    refillsAhead: options.refillsAhead ?? policy.sampler !== "remote",
  };
}
