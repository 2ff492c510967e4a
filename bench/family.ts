// What every estimator of the family costs on a tree of 64 rows, the sums behind the advantages included.
import { advantages, creditEstimators } from "../src/learn/index.js";
import { score } from "../src/reward/index.js";
import { rollout, rolloutPresets, type RolloutTree } from "../src/rollout/index.js";
import { babbler } from "../src/rollout/testing/index.js";
import { calculator, ToolSet } from "../src/tools/index.js";
import type { Figure } from "./figure.js";

const repeats = 9;

const times = 12;
const often = (values: ArrayLike<number>): number[] =>
  Array.from(values).flatMap((v) => new Array<number>(times).fill(v));

/** Rows of more than a thousand tokens: what the babbler writes, each token twelve times. */
function lengthened(tree: RolloutTree): RolloutTree {
  for (const node of tree.nodes) {
    node.tokens = Int32Array.from(often(node.tokens));
    node.logprobs = Float32Array.from(often(node.logprobs));
    node.entropies = Float32Array.from(often(node.entropies));
  }
  return tree;
}

export async function* figures(): AsyncGenerator<Figure> {
  const paid = {
    ...calculator(),
    execute: (input: string) => ({ text: input, ok: true, reward: input.length % 2 }),
  };
  const tree = await rollout(
    babbler(),
    { prompt: "q", id: "q" },
    {
      ...rolloutPresets.arpo,
      ...{ n: 64, initialRollouts: 16, beamSize: 4, seed: 4, responseLength: 4096 },
      tools: new ToolSet([paid], { callLimit: 5 }),
    },
  );
  const scored = await score(lengthened(tree), ({ length }) => (length % 3) / 2);
  const tokens = scored.rows.reduce((sum, { trajectory }) => sum + trajectory.tokens.length, 0);
  yield { name: "family.tokens", value: tokens, unit: "tokens" };
  for (const estimator of creditEstimators) {
    if (estimator === "fr3e") continue; // Its states need equal numbers of rows.
    const took: number[] = [];
    for (let i = 0; i < repeats; i++) {
      const began = performance.now();
      advantages(scored, { estimator });
      took.push(performance.now() - began);
    }
    const value = took.sort((a, b) => a - b)[(repeats - 1) / 2]!;
    yield { name: `family.${estimator}`, value, unit: "ms" };
  }
}
