import { defined } from "../../arguments/defined.js";
import type { Sampling } from "../../policy/policy.js";

/** How questions are asked. In brackets the names of the reference's command line. */
export interface InferenceOptions {
  /**
   * `completion` (the default): a call beyond its limit and a repeated search get a fixed message as
   * their result. `default`: a call beyond its limit leads to one last generation; searches may repeat.
   * (`infer_mode`)
   */
  mode?: "completion" | "default";
  /** A prompt type, or a system message of your own. Default: the benchmark's, or `code_search`. */
  prompt?: string;
  /** Default: temperature 0.6, topP 0.95, topK 20, repetition penalty 1.1. */
  sampling?: Sampling;
  /** Tokens per generation (`max_tokens`). Default 4,096. */
  maxTokens?: number;
  /** Generations that are chained while no closing tag has appeared. Default 4. */
  chained?: number;
  /** Calls by tag. Default: python 5, search 10; other tags as many as the tool set allows. */
  limits?: Readonly<Record<string, number>>;
  /** Milliseconds for one sample (`sample_timeout`). Default 1,500,000. */
  timeoutMs?: number;
  /**
   * What the reference's client really does: stop strings, top-k and min-p are configured but not
   * sent, and result blocks have no white space around them. Default: no. A policy trained here has
   * seen result blocks with white space.
   */
  asReference?: boolean;
  /** Default 0. */
  seed?: number;
}

/** Complete settings: what decides a sample, apart from the policy and the question. */
export interface InferenceSettings {
  mode: "completion" | "default";
  prompt?: string;
  sampling: Sampling;
  maxTokens: number;
  chained: number;
  limits: Record<string, number>;
  timeoutMs: number;
  asReference: boolean;
  seed: number;
}

/** The sampling that the reference's scripts configure. */
export const documentedSampling: Readonly<Sampling> = {
  temperature: 0.6,
  topP: 0.95,
  topK: 20,
  minP: 0,
  repetitionPenalty: 1.1,
};

function whole(name: string, value: number, least: number): number {
  if (Number.isSafeInteger(value) && value >= least) return value;
  throw new RangeError(
    `Cannot evaluate: ${name} must be an integer of at least ${least}, got ${value}`,
  );
}

/** Completes options with the defaults and refuses what makes no sense. */
export function inferenceSettings(options: InferenceOptions = {}): InferenceSettings {
  const { mode = "completion", timeoutMs = 1_500_000, asReference = false } = options;
  if (mode !== "completion" && mode !== "default") {
    throw new RangeError(
      `Cannot evaluate: mode must be completion or default, got ${String(mode)}`,
    );
  }
  if (!(timeoutMs > 0 && timeoutMs < 2 ** 31)) {
    throw new RangeError(
      `Cannot evaluate: timeoutMs must be above 0 and below 2^31, got ${timeoutMs}`,
    );
  }
  const { topK, minP, ...sent } = { ...documentedSampling, ...options.sampling };
  const limits = { python: 5, search: 10, ...options.limits };
  for (const [tag, limit] of Object.entries(limits)) whole(`limits.${tag}`, limit, 0);
  return {
    mode,
    ...defined({ prompt: options.prompt }),
    sampling: asReference ? sent : { ...sent, topK, minP },
    maxTokens: whole("maxTokens", options.maxTokens ?? 4096, 1),
    chained: whole("chained", options.chained ?? 4, 1),
    limits,
    timeoutMs,
    asReference,
    seed: whole("seed", options.seed ?? 0, 0),
  };
}
