// What every estimator of the family costs on a tree of 64 trajectories, the sums behind the advantages
// included, and what it costs to say where every rule would have branched in it.
import { advantages, creditEstimators } from "../../src/learn/advantages.js";
import { score } from "../../src/reward/score-trees.js";
import { branchRules, expansionRules } from "../../src/rollout/rules/registry.js";
import { rollout } from "../../src/rollout/rollout.js";
import { rolloutPresets } from "../../src/rollout/presets.js";
import type { RolloutTree } from "../../src/rollout/rollout-tree.js";
import { randomTextPolicy } from "../../src/rollout/testing/random-text-policy.js";
import { calculator } from "../../src/tools/calculator/calculator.js";
import { ToolSet } from "../../src/tools/tool-set.js";
import type { Figure } from "./figure.js";

const repeats = 25;

const times = 12;
const often = (values: ArrayLike<number>): number[] =>
  Array.from(values).flatMap((v) => new Array<number>(times).fill(v));

/** Trajectories of more than a thousand tokens: what the random policy writes, each token twelve times. */
function lengthened(tree: RolloutTree): RolloutTree {
  for (const node of tree.nodes) {
    node.tokens = Int32Array.from(often(node.tokens));
    node.logprobs = Float32Array.from(often(node.logprobs));
    node.entropies = Float32Array.from(often(node.entropies));
    if (!node.top) continue;
    const { width, ids, logprobs } = node.top;
    const each = <T>(list: ArrayLike<T>) =>
      Array.from({ length: list.length / width }, (_, t) =>
        Array.from({ length: times }, () => Array.from(list).slice(t * width, (t + 1) * width)),
      ).flat(2);
    node.top = {
      width,
      ids: Int32Array.from(each(ids)),
      logprobs: Float32Array.from(each(logprobs)),
    };
  }
  return tree;
}

/** Milliseconds of the middle one of several runs. */
function median(run: () => unknown): number {
  const took = Array.from({ length: repeats }, () => {
    const began = performance.now();
    run();
    return performance.now() - began;
  });
  return took.sort((a, b) => a - b)[(repeats - 1) / 2]!;
}

const graded = (tree: RolloutTree) => score(lengthened(tree), ({ length }) => (length % 3) / 2);

/**
 * FR3E needs states with equal numbers of trajectories, as its own branching makes them: 64
 * trajectories from 8.
 */
async function exploredRows() {
  const tree = await rollout(
    randomTextPolicy(),
    { prompt: "q", id: "q" },
    {
      ...rolloutPresets.fr3e,
      ...{ n: 64, expand: { points: 3, rows: 8 }, seed: 1, responseLength: 4096 },
      tools: new ToolSet([calculator()], { callLimit: 5 }),
      judge: (rows) => rows.map((_, i) => i % 2 === 0),
    },
  );
  return graded(tree);
}

export async function* figures(): AsyncGenerator<Figure> {
  const paid = {
    ...calculator(),
    execute: (input: string) => ({ text: input, ok: true, reward: input.length % 2 }),
  };
  const tree = await rollout(
    randomTextPolicy(),
    { prompt: "q", id: "q" },
    {
      ...rolloutPresets.arpo,
      ...{ n: 64, initialRollouts: 16, beamSize: 4, seed: 4, responseLength: 4096 },
      tools: new ToolSet([paid], { callLimit: 5 }),
    },
  );
  const scored = await graded(tree);
  const tokens = scored.trajectories.reduce(
    (sum, { trajectory }) => sum + trajectory.tokens.length,
    0,
  );
  yield { name: "family.tokens", value: tokens, unit: "tokens" };
  const explored = await exploredRows();
  for (const estimator of creditEstimators) {
    const rows = estimator === "fr3e" ? explored : scored;
    const value = median(() => advantages(rows, { estimator }));
    yield { name: `family.${estimator}`, value, unit: "ms" };
  }
  for (const rule of [...branchRules, ...expansionRules]) {
    if (rule === "branpo") continue; // it chooses by outcomes, which a tree does not keep
    const value = median(() => tree.replay({ rule }));
    yield { name: `family.replay ${rule}`, value, unit: "ms" };
  }
}
