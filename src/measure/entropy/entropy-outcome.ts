import { oneOf } from "../../../common/options/check-options.js";
import { pathOf } from "../../rollout/tree/tree-data.js";
import type { BootstrapEstimate } from "./bootstrap.js";
import { type ProfiledTree, signalAt, treesOf } from "./model-tokens.js";
import { completed, type EntropyStatisticOptions } from "./options.js";
import { mean } from "../../base/statistics.js";
import { checkScored } from "../../reward/scored.js";

/** Spearman's rank correlation, ties averaged; undefined for fewer than two pairs or where nothing varies. */
export function rankCorrelation(x: readonly number[], y: readonly number[]): number | undefined {
  const [a, b] = [ranks(x), ranks(y)];
  const middle = (x.length + 1) / 2;
  let [both, own, other] = [0, 0, 0];
  a.forEach((rank, i) => {
    both += (rank - middle) * (b[i]! - middle);
    own += (rank - middle) ** 2;
    other += (b[i]! - middle) ** 2;
  });
  return own > 0 && other > 0 ? both / Math.sqrt(own * other) : undefined;
}

/** Places from 1 in rising order; equal values share the mean of theirs. */
function ranks(values: readonly number[]): number[] {
  const order = values.map((_, i) => i).sort((a, b) => values[a]! - values[b]!);
  const found = new Array<number>(values.length).fill(0);
  for (let from = 0; from < order.length;) {
    let to = from;
    while (to < order.length && values[order[to]!] === values[order[from]!]) to++;
    for (let i = from; i < to; i++) found[order[i]!] = (from + 1 + to) / 2;
    from = to;
  }
  return found;
}

/** Scores of trees' trajectories: what `score` gives. */
export interface TrajectoryScores {
  readonly trajectories: readonly {
    readonly trajectory: { readonly tree: number; readonly id: number };
    readonly score: { readonly score: number };
  }[];
}

/**
 * A place where trajectories part: the signal at the first token that they do not share, and what came
 * of it.
 */
export interface ForkOutcome {
  tree: number;
  /** The last node that the trajectories share. */
  node: number;
  value: number;
  change: number;
}

/**
 * Does entropy matter? Spearman's correlation of the signal where a trajectory branched (at the first token
 * that the older trajectory wrote from there on) with what the branch changed. One observation per fork; with
 * `change: "variance"` the variance of the leaf scores below it, otherwise the mean distance of the
 * branches' mean scores from the older trajectory's. `at` puts another number than the signal in its place.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { score } from "arpo-lab/learn";
 * import { rollout } from "arpo-lab/rollout";
 * import { entropyOutcome } from "arpo-lab/experimental/entropy";
 * import { randomTextPolicy } from "arpo-lab/experimental/testing";
 * import { calculator, ToolSet } from "arpo-lab/tools";
 *
 * const tools = new ToolSet([calculator()]);
 * const tree = await rollout(
 *   randomTextPolicy(),
 *   { prompt: "a" },
 *   { n: 12, initialRollouts: 3, beamSize: 4, branchProbability: 1, tools },
 * );
 * const { correlation, forks } = entropyOutcome(tree, await score(tree, ({ length }) => length));
 * assert.equal(correlation.count, forks.length);
 * assert.ok(Math.abs(correlation.value ?? 0) <= 1);
 * ```
 */
export function entropyOutcome(
  trees: ProfiledTree | Iterable<ProfiledTree>,
  scored: TrajectoryScores,
  options: EntropyStatisticOptions & {
    change?: "difference" | "variance";
    at?: (tree: ProfiledTree, node: number, token: number) => number;
  } = {},
): { correlation: BootstrapEstimate; forks: ForkOutcome[] } {
  const action = "compare entropy with outcomes";
  const settings = completed(action, options, {
    change: oneOf(["difference", "variance"]),
    at: "function?",
  });
  checkScored(action, scored);
  const { change = "difference" } = options;
  const scores = new Map(
    scored.trajectories.map(({ trajectory, score }) => [
      `${trajectory.tree}/${trajectory.id}`,
      score.score,
    ]),
  );
  const forks = treesOf(action, trees).flatMap((tree) => {
    const signal = (node: number, token: number) =>
      options.at?.(tree, node, token) ?? signalAt(tree.nodes[node]!, token, settings);
    return forksOf(tree, (trajectory) => scores.get(`${tree.index}/${trajectory}`), signal, change);
  });
  const value = rankCorrelation(
    forks.map((fork) => fork.value),
    forks.map((fork) => fork.change),
  );
  const why =
    forks.length < 2
      ? "fewer than two forks have a signal and scores on both sides"
      : "the forks do not differ";
  return {
    correlation: {
      ...{ value, low: undefined, high: undefined, count: forks.length },
      ...(value === undefined ? { why } : {}),
    },
    forks,
  };
}

function forksOf(
  tree: ProfiledTree,
  scoreOf: (trajectory: number) => number | undefined,
  signal: (node: number, token: number) => number,
  change: "difference" | "variance",
): ForkOutcome[] {
  const below = new Map<number, number[]>(); // The scores of the leaves through each node.
  const paths = tree.trajectories.map(({ id, leaf }) => {
    const path = pathOf(tree, leaf).map((node) => node.id);
    const score = scoreOf(id);
    for (const node of score === undefined ? [] : path) {
      below.set(node, [...(below.get(node) ?? []), score!]);
    }
    return path;
  });
  const next = (trajectory: number, from: number): number | undefined =>
    paths[trajectory]?.[paths[trajectory].indexOf(from) + 1];
  const places = new Map<number, { older: number; branches: number[] }>();
  for (const { id, kind, parent, from } of tree.trajectories) {
    if (kind !== "branch" || from < 0) continue;
    const older = next(parent, from);
    const branch = next(id, from);
    if (older === undefined || branch === undefined) continue;
    const place = places.get(from) ?? { older, branches: [] };
    places.set(from, place);
    place.branches.push(branch);
  }
  return [...places].flatMap(([node, { older, branches }]): ForkOutcome[] => {
    const { kind, tokens } = tree.nodes[older]!;
    const value = kind === "model" && tokens.length > 0 ? signal(older, 0) : NaN;
    const sides = [older, ...branches].map((side) => below.get(side) ?? []);
    if (Number.isNaN(value) || sides.some((side) => side.length === 0)) return [];
    const [own, ...others] = sides.map(mean) as [number, ...number[]];
    const all = sides.flat();
    const found =
      change === "variance"
        ? mean(all.map((score) => (score - mean(all)) ** 2))
        : mean(others.map((other) => Math.abs(other - own)));
    return [{ tree: tree.index, node, value, change: found }];
  });
}
