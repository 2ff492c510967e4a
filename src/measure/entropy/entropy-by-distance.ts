import { integer } from "../../../common/options/check-options.js";
import { modelTokens, type ProfiledTree, treesOf } from "./model-tokens.js";
import { completed, type EntropyStatisticOptions } from "./options.js";

/** The mean signal at one distance; undefined where no token stands there. */
export interface ProfilePoint {
  distance: number;
  mean: number | undefined;
  tokens: number;
}

/** The mean signal by the distance from tool results and calls. */
export interface DistanceProfile {
  /** By model tokens since the last tool result, from 0. */
  after: ProfilePoint[];
  /** By model tokens until the next call; every mean is undefined where texts are not known. */
  before: ProfilePoint[];
  /** The mean over all model tokens, each once. */
  mean: number | undefined;
  tokens: number;
}

/**
 * The mean entropy at each distance after a tool result and before a call: a peak at calls would show at
 * the left.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { rollout } from "arpo-lab/rollout";
 * import { entropyByDistance } from "arpo-lab/experimental/entropy";
 * import { randomTextPolicy } from "arpo-lab/experimental/testing";
 * import { calculator, ToolSet } from "arpo-lab/tools";
 *
 * const tree = await rollout(randomTextPolicy(), { prompt: "a" }, { n: 8, tools: new ToolSet([calculator()]) });
 * const { after, before } = entropyByDistance(tree);
 * assert.ok(after.length === 100 && after[0].tokens > 0 && before[0].tokens > 0);
 * ```
 */
export function entropyByDistance(
  trees: ProfiledTree | Iterable<ProfiledTree>,
  options: EntropyStatisticOptions & { distances?: number } = {},
): DistanceProfile {
  const action = "profile an entropy";
  const settings = completed(action, options, { distances: integer(1) });
  const { distances = 100 } = options;
  const tokens = treesOf(action, trees)
    .flatMap((tree) => modelTokens(tree, settings).tokens)
    .filter(({ value }) => !Number.isNaN(value));
  const line = (distanceOf: (token: (typeof tokens)[number]) => number): ProfilePoint[] => {
    const sums = new Float64Array(distances);
    const counts = new Int32Array(distances);
    for (const token of tokens) {
      const distance = distanceOf(token);
      if (!(distance < distances)) continue;
      sums[distance]! += token.value;
      counts[distance]!++;
    }
    return Array.from(counts, (n, distance) => ({
      ...{ distance, tokens: n },
      mean: n > 0 ? sums[distance]! / n : undefined,
    }));
  };
  const sum = tokens.reduce((total, { value }) => total + value, 0);
  return {
    after: line(({ after }) => after),
    before: line(({ before }) => before),
    mean: tokens.length > 0 ? sum / tokens.length : undefined,
    tokens: tokens.length,
  };
}
