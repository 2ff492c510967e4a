import type { LoaderState } from "../../tasks/batches.js";
import type { Task } from "../../tasks/task.js";
import { type FilteredGroups, filterGroups } from "../../learn/filter-groups.js";
import { addCost, type Cost, noCost, spentOn } from "../../learn/measures/spent.js";
import { generatedTokens } from "../../learn/measures/tree-metrics.js";
import { Scored, type ScoredTrajectory } from "../../reward/scored.js";
import type { RolloutTree } from "../../rollout/rollout-tree.js";
import type { Config } from "../config/schema.js";

/** How a step gets its rollouts. */
interface Gathering {
  config: Config;
  /** So many tasks behind a state of the loader. */
  next: (state: LoaderState, size: number) => { items: readonly Task[]; state: LoaderState };
  /** Rolls tasks out; the first has this place in the step. */
  rollOut: (tasks: readonly Task[], firstIndex: number) => Promise<RolloutTree<Task>[]>;
  score: (trees: readonly RolloutTree<Task>[]) => Promise<Scored>;
  /** Each trajectory's reward after the KL penalty, where the filter asks for it. */
  finalRewards: (scored: Scored) => Promise<readonly number[]>;
  /** Prompts are rolled out until there are so many tokens. */
  tokens?: number | undefined;
}

/** What a step trains on, and what it took to get it. */
export interface Gathered {
  trees: RolloutTree<Task>[];
  scored: Scored;
  loader: LoaderState;
  /** Tokens that were drawn, those of prompts that were dropped included. */
  generated: number;
  /** What all of it cost, probes and dropped prompts included. */
  cost: Cost;
  metrics: Record<string, number>;
}

/** Each trajectory's figure by the filter's name for it: a part of the reward, or the reward itself. */
async function figures(
  name: string,
  scored: Scored,
  finalRewards: Gathering["finalRewards"],
): Promise<readonly number[]> {
  if (name === "seq_final_reward") return finalRewards(scored);
  return scored.trajectories.map(({ score, group }) => {
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

/** Some of the trajectories; a prompt that came a second time in the step is a group of its own. */
function keptSequences(
  scored: Scored,
  sequences: FilteredGroups["rows"],
  earlier: ReadonlySet<string>,
): ScoredTrajectory[] {
  return sequences.map((i) => {
    const sequence = scored.trajectories[i]!;
    return earlier.has(sequence.group)
      ? { ...sequence, group: `${sequence.group} again, ${sequence.trajectory.tree}` }
      : sequence;
  });
}

const namesOf = (sequences: readonly ScoredTrajectory[]) =>
  new Set(sequences.map(({ group }) => group));

/** Rolls out a batch, and further prompts until the step has its tokens. */
async function gatherTokens(gathering: Gathering, from: LoaderState): Promise<Gathered> {
  const { config, next, rollOut, score, tokens = 0 } = gathering;
  const size = config.data.train_batch_size;
  const trees: RolloutTree<Task>[] = [];
  const sequences: ScoredTrajectory[] = [];
  let [loader, cost, wanted] = [from, noCost, size];
  while (wanted > 0) {
    const { items, state } = next(loader, wanted);
    const made = await rollOut(items, trees.length);
    const scored = await score(made);
    sequences.push(...keptSequences(scored, [...scored.trajectories.keys()], namesOf(sequences)));
    trees.push(...made);
    loader = state;
    cost = addCost(cost, spentOn(made));
    // As many prompts as are left over at what one has cost so far, and the nearest number of them.
    const prompts = ((tokens - cost.tokens) * trees.length) / Math.max(1, cost.tokens);
    wanted = Math.max(0, Math.min(size, Math.round(prompts)));
  }
  const scored = new Scored(sequences, trees);
  return { trees, scored, loader, generated: generatedTokens(trees), cost, metrics: {} };
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
  if (!enable) return gatherTokens(gathering, from);
  const name = metric ?? "acc";
  const trees: RolloutTree<Task>[] = [];
  const sequences: ScoredTrajectory[] = [];
  let [loader, cost] = [from, noCost];
  let [batches, generated, dropped, surplus] = [0, 0, 0, 0];
  while (trees.length < size) {
    if (limit > 0 && batches >= limit) {
      throw new RangeError(
        `Cannot train: ${limit} batches (algorithm.filter_groups.max_num_gen_batches) must hold ${size} prompts whose trajectories differ in ${name}, got ${trees.length}; take tasks that are neither too easy nor too hard, or raise the limit (0: none)`,
      );
    }
    const { items, state } = next(loader, size);
    const made = await rollOut(items, batches * size);
    const scored = await score(made);
    const found = filterGroups(
      {
        groups: scored.trajectories.map(({ trajectory }) => trajectory.tree),
        metric: await figures(name, scored, gathering.finalRewards),
      },
      { before: trees.length, size },
    );
    sequences.push(...keptSequences(scored, found.rows, namesOf(sequences)));
    trees.push(...made.filter(({ index }) => found.groups.includes(index)));
    loader = state;
    batches++;
    generated += generatedTokens(made);
    cost = addCost(cost, spentOn(made));
    dropped += found.dropped;
    surplus += found.surplus;
  }
  return {
    ...{ trees, scored: new Scored(sequences, trees), loader, generated, cost },
    metrics: {
      "train/num_gen_batches": batches,
      "filter/generated": batches * size,
      "filter/dropped": dropped,
      "filter/surplus": surplus,
    },
  };
}
