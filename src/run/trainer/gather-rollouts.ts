import type { LoaderState } from "../../data/batches.js";
import type { Task } from "../../data/task.js";
import { type FilteredGroups, filterGroups } from "../../learn/filter-groups.js";
import { generatedTokens } from "../../learn/measures/tree-metrics.js";
import { Scored, type ScoredTrajectory } from "../../reward/scored.js";
import type { RolloutTree } from "../../rollout/rollout-tree.js";
import type { Config } from "../config/schema.js";

/** How a step gets its rollouts. */
interface Gathering {
  config: Config;
  /** The tasks behind a state of the loader. */
  next: (state: LoaderState) => { items: readonly Task[]; state: LoaderState };
  /** Rolls tasks out; the first has this place in the step. */
  rollOut: (tasks: readonly Task[], firstIndex: number) => Promise<RolloutTree<Task>[]>;
  score: (trees: readonly RolloutTree<Task>[]) => Promise<Scored>;
  /** Each trajectory's reward after the KL penalty, where the filter asks for it. */
  finalRewards: (scored: Scored) => Promise<readonly number[]>;
}

/** What a step trains on, and what it took to get it. */
export interface Gathered {
  trees: RolloutTree<Task>[];
  scored: Scored;
  loader: LoaderState;
  /** Tokens that were drawn, those of prompts that were dropped included. */
  generated: number;
  metrics: Record<string, number>;
}

/** Each trajectory's figure by the filter's name for it: a part of the reward, or the reward itself. */
async function figures(
  name: string,
  scored: Scored,
  finalRewards: Gathering["finalRewards"],
): Promise<readonly number[]> {
  if (name === "seq_final_reward") return finalRewards(scored);
  return scored.rows.map(({ score, group }) => {
    const part = score.parts?.[name];
    if (part !== undefined) return part;
    if (name === "seq_reward" || name === "reward" || name === "score") return score.score;
    // A reward that does not say what is right is right above 0.
    if (name === "acc") return Number(score.score > 0);
    throw new RangeError(
      `Cannot filter groups: algorithm.filter_groups.metric must be acc, seq_reward, seq_final_reward or a part of the reward, got ${name}, which the reward of ${group} does not tell`,
    );
  });
}

/** Trajectories whose prompt was kept; a prompt that came a second time in the step is a group of its own. */
function keptRows(
  scored: Scored,
  { rows }: FilteredGroups,
  earlier: ReadonlySet<string>,
): ScoredTrajectory[] {
  return rows.map((i) => {
    const row = scored.rows[i]!;
    return earlier.has(row.group)
      ? { ...row, group: `${row.group} again, ${row.trajectory.tree}` }
      : row;
  });
}

/**
 * Rolls out the prompts of a step. With `filter_groups` those whose trajectories are all the same are dropped
 * and more are rolled out, as DAPO does, until the batch is full or the limit is reached. All of it
 * follows from the loader's state and the step's seed, so a resumed run does the same.
 */
export async function gatherRollouts(gathering: Gathering, from: LoaderState): Promise<Gathered> {
  const { config, next, rollOut, score } = gathering;
  const { enable, metric, max_num_gen_batches: limit } = config.algorithm.filter_groups;
  const size = config.data.train_batch_size;
  if (!enable) {
    const { items, state } = next(from);
    const trees = await rollOut(items, 0);
    const scored = await score(trees);
    return { trees, scored, loader: state, generated: generatedTokens(trees), metrics: {} };
  }
  const name = metric ?? "acc";
  const trees: RolloutTree<Task>[] = [];
  const rows: ScoredTrajectory[] = [];
  let [loader, batches, generated, dropped, surplus] = [from, 0, 0, 0, 0];
  while (trees.length < size) {
    if (limit > 0 && batches >= limit) {
      throw new RangeError(
        `Cannot train: ${limit} batches (algorithm.filter_groups.max_num_gen_batches) must hold ${size} prompts whose trajectories differ in ${name}, got ${trees.length}; take tasks that are neither too easy nor too hard, or raise the limit (0: none)`,
      );
    }
    const { items, state } = next(loader);
    const made = await rollOut(items, batches * size);
    const scored = await score(made);
    const found = filterGroups(
      {
        groups: scored.rows.map(({ trajectory }) => trajectory.tree),
        metric: await figures(name, scored, gathering.finalRewards),
      },
      { before: trees.length, size },
    );
    rows.push(...keptRows(scored, found, new Set(rows.map(({ group }) => group))));
    trees.push(...made.filter(({ index }) => found.groups.includes(index)));
    loader = state;
    batches++;
    generated += generatedTokens(made);
    dropped += found.dropped;
    surplus += found.surplus;
  }
  return {
    ...{ trees, scored: new Scored(rows, trees), loader, generated },
    metrics: {
      "train/num_gen_batches": batches,
      "filter/generated": batches * size,
      "filter/dropped": dropped,
      "filter/surplus": surplus,
    },
  };
}
