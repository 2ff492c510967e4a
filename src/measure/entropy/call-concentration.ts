import { bootstrap, type BootstrapEstimate, sumsByPrompt } from "./bootstrap.js";
import { type ModelToken, modelTokens, type ProfiledTree, treesOf } from "./model-tokens.js";
import { completed, type EntropyStatisticOptions } from "./options.js";
import { topTokens } from "./top-tokens.js";

/** Where the most uncertain tokens stand. */
export interface CallConcentration {
  /** How much more likely they are to stand at a call than any token: 1 is no concentration. */
  concentration: BootstrapEstimate;
  /** Share of the most uncertain tokens at calls, and of all tokens. */
  topAtCalls: number | undefined;
  allAtCalls: number | undefined;
  /** How many of them stand in each twentieth of their segments. */
  places: number[];
  /** The greatest distance of their places' distribution from an even one. */
  unevenness: number | undefined;
  signal: string;
  k: number;
  share: number;
  /** Whether each trajectory was put on one scale before. */
  zScore: boolean;
}

/**
 * The objection to branching at calls: do the most uncertain tokens gather at calls, or are they spread over the thinking
 * text? A token is at a call within k tokens after a result or before a call's opening tag. The greatest
 * are taken tree by tree; counts are added up.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { rollout } from "arpo-lab/rollout";
 * import { callConcentration } from "arpo-lab/experimental/entropy";
 * import { randomTextPolicy } from "arpo-lab/experimental/testing";
 * import { calculator, ToolSet } from "arpo-lab/tools";
 *
 * const tree = await rollout(randomTextPolicy(), { prompt: "a" }, { n: 8, tools: new ToolSet([calculator()]) });
 * const { concentration, places } = callConcentration(tree, { k: 3, share: 0.2 });
 * assert.ok(concentration.value! >= 0);
 * assert.equal(places.reduce((sum, n) => sum + n, 0), concentration.count);
 * ```
 */
export function callConcentration(
  trees: ProfiledTree | Iterable<ProfiledTree>,
  options: EntropyStatisticOptions = {},
): CallConcentration {
  const action = "measure a concentration";
  const settings = completed(action, options);
  const { k, share, signal } = settings;
  const found = treesOf(action, trees).map((tree) => {
    const made = modelTokens(tree, settings);
    return { prompt: made.prompt, ...topTokens(made, settings) };
  });
  const atCall = ({ after, before }: ModelToken) => after < k || before <= k;
  const near = (tokens: readonly ModelToken[]) => tokens.filter(atCall).length;
  const top = found.flatMap((tree) => tree.top);
  const known = found.flatMap((tree) => tree.known);
  const texts = known.every(({ before }) => !Number.isNaN(before));
  const sums = sumsByPrompt(found, (tree) => [
    ...[near(tree.top), tree.top.length, near(tree.known), tree.known.length],
  ]);
  const ratio = ([topNear, tops, allNear, all]: readonly number[]) =>
    tops! > 0 && allNear! > 0 ? topNear! / tops! / (allNear! / all!) : undefined;
  const why = !texts
    ? "the texts of tokens are not known: give the tokenizer"
    : top.length === 0
      ? `no token has a known ${signal}`
      : near(known) === 0
        ? "no token stands at a call"
        : undefined;
  const places = new Array<number>(20).fill(0);
  for (const { place } of top) places[Math.min(19, Math.floor(place * 20))]!++;
  const one = (tokens: readonly ModelToken[]) =>
    texts && tokens.length > 0 ? near(tokens) / tokens.length : undefined;
  return {
    concentration: {
      ...(why === undefined
        ? bootstrap("concentration", sums, ratio, settings)
        : { value: undefined, low: undefined, high: undefined, why }),
      count: top.length,
    },
    topAtCalls: one(top),
    allAtCalls: one(known),
    places,
    unevenness: unevennessOf(top.map(({ place }) => place)),
    ...{ signal, k, share },
    zScore: found.some((tree) => tree.zScore),
  };
}

/** max |F(u) - u| of some places in (0, 1), on both sides of every step. */
function unevennessOf(places: readonly number[]): number | undefined {
  if (places.length === 0) return undefined;
  const sorted = [...places].sort((a, b) => a - b);
  const n = sorted.length;
  return sorted.reduce((most, u, i) => Math.max(most, u - i / n, (i + 1) / n - u), 0);
}
