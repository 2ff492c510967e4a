import { readFile } from "#platform/files";
import { writeDurably } from "../../../common/files/durable.js";
import { Scored, type ScoredTrajectory } from "../../reward/scored.js";
import type { Task } from "../../tasks/task.js";
import type { Tokenizer } from "../../model/tokenizer/tokenizer.js";
import { fromExactJson, toExactJson } from "../../rollout/files/exact-json.js";
import { treesFromJsonl, treesToJsonl } from "../../rollout/files/tree-jsonl.js";
import { RolloutTree } from "../../rollout/rollout-tree.js";
import type { DrawnBatch } from "./rollout-queue.js";

// Batches that wait to be trained on, in a checkpoint: for each a line of what is known of it and of the scores of its
// trajectories, and behind it its trees, a line each.

type Line = Omit<DrawnBatch, "trees" | "scored"> & {
  /** How many trees follow. */
  trees: number;
  /** The scores, with each trajectory as the place of its tree and its own in the tree. */
  scored: (Omit<ScoredTrajectory, "trajectory"> & { tree: number; trajectory: number })[];
};

function lineOf({ trees, scored, ...batch }: DrawnBatch): Line {
  const places = new Map(
    trees.flatMap((tree, place) => tree.trajectories.map((one) => [one, place] as const)),
  );
  return {
    ...batch,
    trees: trees.length,
    scored: scored.trajectories.map(({ trajectory, ...rest }) => ({
      ...rest,
      tree: places.get(trajectory)!,
      trajectory: trajectory.id,
    })),
  };
}

/** Writes batches that wait, without loss. */
export async function saveWaiting(path: string, batches: readonly DrawnBatch[]): Promise<void> {
  const text = batches.map((one) => `${toExactJson(lineOf(one))}\n${treesToJsonl(one.trees)}`);
  await writeDurably(path, text.join(""));
}

/** Reads what `saveWaiting` wrote; a checkpoint's seal has told that it is that. */
export async function loadWaiting(path: string, tokenizer: Tokenizer): Promise<DrawnBatch[]> {
  const lines = (await readFile(path, "utf8")).split("\n");
  const batches: DrawnBatch[] = [];
  for (let at = 0; at < lines.length && lines[at] !== "";) {
    const { trees: count, scored, ...batch } = fromExactJson(lines[at]!) as Line;
    const own = treesFromJsonl<Task>(lines.slice(at + 1, at + 1 + count).join("\n"));
    const trees = own.map((tree) => new RolloutTree<Task>(tree, { tokenizer }));
    const trajectories = scored.map(({ tree, trajectory, ...rest }) => ({
      ...rest,
      trajectory: trees[tree]!.trajectories[trajectory]!,
    }));
    batches.push({ ...batch, trees, scored: new Scored(trajectories, trees) });
    at += 1 + count;
  }
  return batches;
}
