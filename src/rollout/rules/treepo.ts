import { choice, count, positive, range } from "../../../common/options/setting.js";
import { beyondResults, pathTokens, signalOf } from "../expand/path-tokens.js";
import { oneSegment } from "../expand/segment-steps.js";
import { defineRule, type Return } from "./definition.js";
import * as exact from "../../base/exact/index.js";

/**
 * How TreePO shares continuations among paths: evenly, or by the log-probability of all tokens, their mean,
 * or the mean over the last segment. Those with `inv` favour likely paths, the others unlikely ones.
 */
export const treepoAllocations = [
  "fixed_avg",
  "logprob_weighted_div",
  "inverse_logprob_weighted_div",
  "norm_logprob_weighted_div",
  "norm_inv_logprob_weighted_div",
  "node_logprob_weighted_div",
  "inverse_node_logprob_weighted_div",
] as const;

export type TreepoAllocation = (typeof treepoAllocations)[number];

/** Where one prompt stands after a step. */
export interface TreepoStep {
  /** Log-probabilities of each unfinished path's tokens so far. */
  paths: readonly ArrayLike<number>[];
  /** Paths finished in this step, and in all. */
  finished: number;
  finishedInAll: number;
  /** Trajectories wanted. */
  width: number;
  /** Continuations per path. */
  divergence: number;
  /** Tokens of a segment. */
  segment: number;
  allocation?: TreepoAllocation;
  temperature?: number;
  /** `tokens`: `divergence` is a budget of tokens per step for all prompts. */
  budget?: "paths" | "tokens";
  prompts?: number;
}

/** How many continuations each unfinished path of a prompt gets for TreePO's next segment. */
export function treepoDivergence(step: TreepoStep): number[] {
  const { paths, allocation = "fixed_avg" } = step;
  const { length } = paths;
  if (length === 0) return [];
  const total = treepoTotal(step);
  if (allocation === "fixed_avg") {
    const each = Math.floor(total / length);
    return paths.map((_, i) => (i === length - 1 ? total - each * (length - 1) : each));
  }
  return byWeight(weights(step, allocation), total);
}

/** Continuations of all paths together: never fewer than one each. */
function treepoTotal(step: TreepoStep): number {
  const { paths, finished, finishedInAll, width, divergence, segment } = step;
  const free = Math.max(width - finishedInAll, 0);
  const wanted =
    step.budget === "tokens"
      ? Math.floor(Math.floor(divergence / (step.prompts ?? 1)) / segment)
      : divergence * (finished + paths.length);
  return Math.max(paths.length, Math.min(free, wanted));
}

function weights(step: TreepoStep, allocation: TreepoAllocation): number[] {
  const { temperature = 1, segment } = step;
  const sign = /inv/.test(allocation) ? 1 : -1;
  const values = step.paths.map((logprobs) => {
    const all = Array.from(logprobs);
    const seen = allocation.includes("node") ? all.slice(-segment) : all;
    const sum = seen.reduce((total, x) => total + x, 0);
    return /^(inverse_)?logprob/.test(allocation) ? sum : sum / seen.length;
  });
  const least = Math.min(...values);
  const logits = values.map((x) => (sign * (x - least)) / temperature);
  const most = Math.max(...logits);
  const shares = logits.map((x) => exact.exp(x - most));
  const all = shares.reduce((total, x) => total + x, 0);
  return shares.map((x) => x / all);
}

/** One each, the rest by largest remainder. */
function byWeight(weight: readonly number[], total: number): number[] {
  const rest = total - weight.length;
  const exact = weight.map((w) => w * rest);
  const counts = exact.map((x) => 1 + Math.floor(x));
  const left = total - counts.reduce((sum, c) => sum + c, 0);
  const order = exact
    .map((x, i) => ({ i, fraction: x - Math.floor(x) }))
    .sort((a, b) => b.fraction - a.fraction);
  for (const { i } of order.slice(0, Math.max(0, left))) counts[i]! += 1;
  return counts;
}

declare module "../settings.js" {
  interface RolloutCompat {
    /** `treepo`: the key for a wider first step is put where nobody reads it. */
    treepoFirstStep?: boolean;
  }
}

/** Paths of segments, each continued several times while there is room. */
export const treepo = defineRule({
  name: "treepo",
  title: "TreePO",
  words: "after every segment, while there is room",
  settings: {
    segment: count(512, "tokens of a segment"),
    depth: count(14, "segments of a path"),
    divergence: count(2, "continuations per path"),
    first: range([2, 8], "the first step makes from so many to so many paths"),
    allocation: choice(treepoAllocations, "fixed_avg", "how continuations are shared"),
    temperature: positive(1, "of a weighted allocation"),
  },
  slips: [{ name: "treepoFirstStep", changes: "misplaced" }],
  trajectories: ({ first }) => ({ initialRollouts: first[1] }),
  usual: { n: 16 },
  preset: { responseLength: 7168 },
  plan(chain, { allocation }) {
    if (allocation === "fixed_avg") return {};
    const { drawn } = pathTokens(chain);
    const logprobs = signalOf(chain, "surprisal");
    const at = Array.from(drawn, (_, t) => t).filter((t) => drawn[t]);
    return {
      drawn: { places: at.map((t) => t + chain.start), logprobs: at.map((t) => -logprobs[t]!) },
    };
  },
  segments: {
    first({ divergence, first: [least, most] }, { width, random, misplaced }) {
      const drawn = misplaced
        ? divergence
        : least + Math.floor(random.split("first").at(0) * (most - least + 1));
      return Math.min(width, drawn);
    },
    continuations: ({ segment, divergence, allocation, temperature }, now) => {
      const { going, finished, finishedInAll, width } = now;
      return treepoDivergence({
        paths: going.map(({ logprobs }) => logprobs),
        ...{ finished, finishedInAll, width, segment, divergence, allocation, temperature },
      });
    },
    depth: ({ depth }) => depth,
    // Finished paths by chance, each cut at the end of one of its segments by chance.
    back({ segment, divergence }, finished, { wanted, random }) {
      const order = random.split("order").shuffle(finished);
      const returns: Return[] = [];
      for (let i = 0; returns.length < wanted && order.length > 0; i++) {
        const chain = order[i % order.length]!;
        const { id, start, length } = chain;
        const segments = Math.max(1, Math.ceil((length - start) / segment));
        const cut = start + segment * Math.floor(random.split("cut").at(i) * segments);
        const after = beyondResults(chain)(cut);
        const at = after < length ? after : start;
        for (let d = 0; d < divergence && returns.length < wanted; d++)
          returns.push({ trajectory: id, at });
      }
      return returns;
    },
  },
  why: ({ segment, divergence }) =>
    `the end of a segment of ${segment} tokens: ${divergence} continuations while there is room`,
  advice: oneSegment,
});
