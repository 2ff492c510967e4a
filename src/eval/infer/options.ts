import { kinds, shown } from "../../../common/options/check-arguments.js";
import {
  integer,
  milliseconds,
  oneOf,
  optionsOf,
  type OptionRules,
} from "../../../common/options/check-options.js";
import { defined } from "../../../common/options/defined.js";
import { samplingRules } from "../../policy/check-generate.js";
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

const wrongLimit = (limits: object) =>
  Object.entries(limits).find(([, limit]) => !integer(0).holds(limit));

export const inferenceRules: OptionRules<InferenceOptions> = {
  mode: oneOf(["completion", "default"]),
  prompt: "text?",
  sampling: optionsOf<Sampling>(samplingRules),
  maxTokens: integer(1),
  chained: integer(1),
  limits: {
    must: "an object of integers of at least 0",
    holds: (limits) => kinds.object[1](limits) && wrongLimit(limits as object) === undefined,
    got: (limits) => wrongLimit(Object(limits) as object)?.join(": ") ?? shown(limits),
  },
  timeoutMs: milliseconds,
  asReference: "boolean?",
  seed: integer(0),
};

/** Completes options with the defaults. */
export function inferenceSettings(options: InferenceOptions = {}): InferenceSettings {
  const { mode = "completion", timeoutMs = 1_500_000, asReference = false } = options;
  const { maxTokens = 4096, chained = 4, seed = 0 } = options;
  const { topK, minP, ...sent } = { ...documentedSampling, ...defined({ ...options.sampling }) };
  const limits = { python: 5, search: 10, ...defined({ ...options.limits }) };
  return {
    mode,
    ...defined({ prompt: options.prompt }),
    sampling: asReference ? sent : { ...sent, topK, minP },
    ...{ maxTokens, chained, limits, timeoutMs, asReference, seed },
  };
}
