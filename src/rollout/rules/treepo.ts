import { choice, count, positive, range } from "../../../common/options/setting.js";
import { treepoAllocations, treepoDivergence } from "../branch/family/treepo.js";
import { beyondResults, pathTokens, signalOf } from "../expand/path-tokens.js";
import { oneSegment } from "../expand/segment-steps.js";
import { defineRule, type Return } from "./definition.js";

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
