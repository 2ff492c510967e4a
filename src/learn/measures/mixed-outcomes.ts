import type { Scored, ScoredTrajectory } from "../../reward/scored.js";

/**
 * What a method compares a trajectory with: the trajectories of a prompt, of a tree that began with one
 * trajectory, below a fork, or that met the same answer of a tool.
 */
type ComparisonSet = "prompts" | "trees" | "forks" | "anchors";

/**
 * How many sets of trajectories there are to compare, and in how many of them some are right and some
 * wrong.
 */
export interface MixedOutcomes {
  /** Sets of two trajectories or more. */
  sets: number;
  mixed: number;
}

export interface MixedOutcomeOptions {
  /** The score from which a trajectory is right. Default: any above 0. */
  success?: number;
}

/** A trajectory once, however often it stands in the batch to fill it up. */
function uniqueSequences(scored: Scored): ScoredTrajectory[] {
  const seen = new Set<string>();
  return scored.trajectories.filter(({ trajectory }) => {
    const key = `${trajectory.tree} ${trajectory.id}`;
    if (seen.has(key)) return false;
    seen.add(key);
    return true;
  });
}

/**
 * The sets that each trajectory is in: their names by kind, and for forks where the trajectory
 * continues from them.
 */
function membership({ trajectory, group }: ScoredTrajectory, answers: ReadonlyMap<string, string>) {
  const { tree, nodes } = trajectory;
  const at = (node: number) => `${tree} ${node}`;
  return {
    prompts: [group],
    trees: nodes.slice(0, 1).map(at),
    forks: nodes.slice(0, -1).map((node, i) => ({ fork: at(node), next: nodes[i + 1]! })),
    anchors: new Set(
      nodes.flatMap((node) => {
        const answer = answers.get(at(node));
        return answer === undefined ? [] : [`${group} ${answer}`];
      }),
    ),
  };
}

/** Outcomes of the trajectories of each set, by the set's name. */
class Sets {
  readonly #outcomes = new Map<string, boolean[]>();

  add(name: string, right: boolean): void {
    const list = this.#outcomes.get(name);
    if (list) list.push(right);
    else this.#outcomes.set(name, [right]);
  }

  count(counts: (name: string) => boolean = () => true): MixedOutcomes {
    const sets = [...this.#outcomes].filter(([name, list]) => list.length > 1 && counts(name));
    const mixed = sets.filter(([, list]) => list.includes(true) && list.includes(false));
    return { sets: sets.length, mixed: mixed.length };
  }
}

/**
 * How often trajectories that are compared with each other ended differently: what there is to learn from,
 * by what a method compares. Sets of one trajectory are left out.
 */
export function mixedOutcomes(
  scored: Scored,
  options: MixedOutcomeOptions = {},
): Record<ComparisonSet, MixedOutcomes> {
  const { success } = options;
  const answers = new Map<string, string>();
  for (const { index, nodes } of scored.trees) {
    for (const { id, tool } of nodes) if (tool) answers.set(`${index} ${id}`, tool.text);
  }
  const [prompts, trees, forks, anchors] = [new Sets(), new Sets(), new Sets(), new Sets()];
  const next = new Map<string, Set<number>>();
  for (const sequence of uniqueSequences(scored)) {
    const right =
      success === undefined ? sequence.score.score > 0 : sequence.score.score >= success;
    const own = membership(sequence, answers);
    for (const name of own.prompts) prompts.add(name, right);
    for (const name of own.trees) trees.add(name, right);
    for (const name of own.anchors) anchors.add(name, right);
    for (const { fork, next: to } of own.forks) {
      forks.add(fork, right);
      next.set(fork, (next.get(fork) ?? new Set()).add(to));
    }
  }
  return {
    prompts: prompts.count(),
    trees: trees.count(),
    forks: forks.count((name) => next.get(name)!.size > 1),
    anchors: anchors.count(),
  };
}
