import {
  Credit,
  type CreditNode,
  type CreditSpan,
  type CreditSum,
  type CreditTree,
  type TreeInput,
} from "../credit.js";
import {
  type CreditBatch,
  type CreditTrajectory,
  prefixNames,
  prompts,
} from "./credit-trajectories.js";

/** The tree of a prompt, cut into spans of some kind. */
interface PromptTree {
  tree: CreditTree;
  /** Its trajectories, and the leaf each ends at. Repeated trajectories end at the same leaf. */
  trajectories: readonly number[];
  leaves: readonly number[];
  /** The nodes on every trajectory's way, from below the prompt to its leaf. */
  paths: readonly (readonly number[])[];
}

/** Where trajectories are cut. */
type Cuts = (trajectory: number) => readonly number[];

/** The trees of all prompts. Every trajectory has its own leaf, even where its tokens are another's too. */
export function promptTrees(
  trajectories: readonly CreditTrajectory[],
  cuts: Cuts,
  entropy?: (trajectory: number, end: number) => number,
): PromptTree[] {
  const name = prefixNames(trajectories);
  return prompts(trajectories).map((own) => {
    const nodes: CreditNode[] = [{ parent: -1, tokens: 0, ...(entropy ? { entropy: 0 } : {}) }];
    const known = new Map<string, number>();
    const leaves: number[] = [];
    const paths = own.map((trajectory) => {
      const { length, reward, scored } = trajectories[trajectory]!;
      const ends = [...cuts(trajectory).filter((end) => end > 0 && end < length), length];
      let parent = 0;
      let start = 0;
      const path = ends.map((end, piece) => {
        const last = piece === ends.length - 1;
        const key = last
          ? `leaf ${name(trajectory, length)} ${scored.trajectory.id}`
          : name(trajectory, end);
        let node = known.get(key);
        if (node === undefined) {
          const made: CreditNode = { parent, tokens: end - start };
          if (last) made.score = reward;
          if (entropy) made.entropy = entropy(trajectory, end);
          node = nodes.push(made) - 1;
          known.set(key, node);
        }
        parent = node;
        start = end;
        return node;
      });
      leaves.push(parent);
      return path;
    });
    return { tree: { nodes }, trajectories: own, leaves, paths };
  });
}

/**
 * Where trajectories may be cut: all lengths at which a trajectory of the prompt left another one, in
 * order.
 */
function leftAt(
  trajectories: readonly CreditTrajectory[],
): (trajectory: number) => readonly number[] {
  const lengths = new Map<string, Set<number>>();
  for (const { shared, group, parent, tree } of trajectories) {
    if (shared === 0 || (parent < 0 && !tree.origin)) continue;
    lengths.set(group, (lengths.get(group) ?? new Set<number>()).add(shared));
  }
  const sorted = new Map(
    [...lengths].map(([group, all]) => [group, [...all].sort((a, b) => a - b)]),
  );
  return (trajectory) => sorted.get(trajectories[trajectory]!.group) ?? [];
}

/** Trajectories cut where they part. A trajectory that was left and is not there itself makes no fork. */
export function atForks(trajectories: readonly CreditTrajectory[]): Cuts {
  const name = prefixNames(trajectories);
  const candidates = leftAt(trajectories);
  const ways = new Map<string, Set<string>>();
  const names = trajectories.map(({ length, tree, scored }, trajectory) =>
    candidates(trajectory)
      .filter((at) => at <= length)
      .map((at) => {
        const here = name(trajectory, at);
        const next =
          at < length ? name(trajectory, at + 1) : `${tree.index} ${scored.trajectory.id} ends`;
        ways.set(here, (ways.get(here) ?? new Set<string>()).add(next));
        return { at, here };
      }),
  );
  return (trajectory) =>
    names[trajectory]!.flatMap(({ at, here }) => (ways.get(here)!.size > 1 ? [at] : []));
}

/** Trajectories cut between turns. */
export const atTurns =
  (trajectories: readonly CreditTrajectory[]): Cuts =>
  (trajectory) =>
    trajectories[trajectory]!.turns.slice(0, -1).map(({ end }) => end);

/** Trajectories cut between what the policy wrote in one go each. */
export const atSegments =
  (trajectories: readonly CreditTrajectory[]): Cuts =>
  (trajectory) =>
    trajectories[trajectory]!.segments.slice(0, -1);

export type Spans = readonly (readonly CreditSpan[])[];

/** Every prompt's tree by itself, its trajectories' spans put in the order of the batch. */
export function perPrompt(
  { trajectories, mask }: CreditBatch,
  cuts: Cuts,
  creditOf: (input: TreeInput, trajectories: readonly number[]) => Credit,
  entropy?: (trajectory: number, end: number) => number,
): Spans {
  const out: CreditSpan[][] = trajectories.map(() => []);
  for (const { tree, trajectories: own, leaves } of promptTrees(trajectories, cuts, entropy)) {
    const { spans } = creditOf(
      { tree, leaves, mask: own.map((trajectory) => mask[trajectory]!) },
      own,
    );
    own.forEach((trajectory, i) => (out[trajectory] = [...spans[i]!]));
  }
  return out;
}

/** What each turn of each trajectory earned; trajectories of which nothing is said earned nothing. */
export function turnRewards(
  trajectories: readonly CreditTrajectory[],
  estimator: string,
): number[][] {
  if (!trajectories.some(({ scored }) => scored.turnRewards)) {
    throw new TypeError(
      `Cannot use ${estimator}: turns must have rewards, got none; a tool may return one with its result ({ text, ok, reward }), or a reward say them (turns)`,
    );
  }
  return trajectories.map(({ scored, turns }) => [...(scored.turnRewards ?? turns.map(() => 0))]);
}

/** Each turn of a trajectory under its own sum. */
export function turnSpans({ turns }: CreditTrajectory, sums: readonly CreditSum[]): CreditSpan[] {
  return turns.flatMap(({ start, end }, i) => (end > start ? [{ start, end, sum: sums[i]! }] : []));
}
