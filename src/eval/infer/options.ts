import { kinds, shown } from "../../../common/options/check-arguments.js";
import {
  integer,
  milliseconds,
  oneOf,
  optionsOf,
  type OptionRule,
  valuesOf,
} from "../../../common/options/check-options.js";
import {
  type Complete,
  completed,
  completing,
  type Following,
  following,
  type Given,
  type Named,
  option,
  unset,
} from "../../../common/options/option-table.js";
import { defined } from "../../../common/options/defined.js";
import { samplingRules } from "../../policy/check-generate.js";
import type { Sampling } from "../../policy/policy.js";

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

const limitsRule: OptionRule<Readonly<Record<string, number>>> = {
  must: "an object of integers of at least 0",
  holds: (limits) => kinds.object[1](limits) && wrongLimit(limits as object) === undefined,
  got: (limits) => wrongLimit(Object(limits) as object)?.join(": ") ?? shown(limits),
};

/** How questions are asked. In brackets the names of the reference's command line. */
export const inferenceTable = {
  /**
   * `completion`: a call beyond its limit and a repeated search get a fixed message as their result.
   * `default`: a call beyond its limit leads to one last generation; searches may repeat. (`infer_mode`)
   * Default: `completion`.
   */
  mode: option(oneOf(["completion", "default"]), "completion"),
  /** A prompt type, or a system message of your own. Default: the benchmark's, or `code_search`. */
  prompt: unset(valuesOf<string>("text?")),
  /** How tokens are sampled. Default: temperature 0.6, topP 0.95, topK 20, repetition penalty 1.1. */
  sampling: following(optionsOf<Sampling>(samplingRules)) satisfies Following<Sampling, Sampling>,
  /** Tokens per generation (`max_tokens`). Default 4096. */
  maxTokens: option(integer(1), 4096),
  /** Generations that are chained while no closing tag has appeared. Default 4. */
  chained: option(integer(1), 4),
  /** Calls by tag. Default: python 5, search 10; other tags as many as the tool set allows. */
  limits: completing(limitsRule, (given): Record<string, number> => ({
    ...{ python: 5, search: 10 },
    ...defined({ ...given }),
  })),
  /** Milliseconds for one sample (`sample_timeout`). Default 1500000. */
  timeoutMs: option(milliseconds, 1_500_000),
  /**
   * What the reference's client really does: stop strings, top-k and min-p are configured but not
   * sent, and result blocks have no white space around them. A policy trained here has seen result blocks
   * with white space. Default: false.
   */
  asReference: option(valuesOf<boolean>("boolean?"), false),
  /** The same seed gives the same samples. Default 0. */
  seed: option(integer(0), 0),
};

export interface InferenceOptions extends Given<typeof inferenceTable>, Named {}

/** Complete settings: what decides a sample, apart from the policy and the question. */
export interface InferenceSettings extends Complete<typeof inferenceTable>, Named {}

/** Completes options with the defaults. */
export function inferenceSettings(options: InferenceOptions = {}): InferenceSettings {
  const { topK, minP, ...sent } = { ...documentedSampling, ...defined({ ...options.sampling }) };
  const sampling = options.asReference ? sent : { ...sent, topK, minP };
  return completed(inferenceTable, options, { sampling });
}
