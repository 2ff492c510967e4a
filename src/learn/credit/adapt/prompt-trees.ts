import type { CreditNode, CreditTree } from "../credit.js";
import { type CreditRow, prefixNames, prompts } from "./rows.js";

/** The tree of a prompt, cut into stretches of some kind. */
export interface PromptTree {
  tree: CreditTree;
  /** Its rows, and the leaf each ends at. Repeated rows end at the same leaf. */
  rows: readonly number[];
  leaves: readonly number[];
  /** The nodes on every row's way, from below the prompt to its leaf. */
  paths: readonly (readonly number[])[];
}

/** Where rows are cut. */
export type Cuts = (trajectory: number) => readonly number[];

/** The trees of all prompts. Every row has its own leaf, even where its tokens are another's too. */
export function promptTrees(
  rows: readonly CreditRow[],
  cuts: Cuts,
  entropy?: (trajectory: number, end: number) => number,
): PromptTree[] {
  const name = prefixNames(rows);
  return prompts(rows).map((own) => {
    const nodes: CreditNode[] = [{ parent: -1, tokens: 0, ...(entropy ? { entropy: 0 } : {}) }];
    const known = new Map<string, number>();
    const leaves: number[] = [];
    const paths = own.map((trajectory) => {
      const { length, reward, scored } = rows[trajectory]!;
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
    return { tree: { nodes }, rows: own, leaves, paths };
  });
}

/** Where rows may be cut: all lengths at which a row of the prompt left another one, in order. */
function leftAt(rows: readonly CreditRow[]): (trajectory: number) => readonly number[] {
  const lengths = new Map<string, Set<number>>();
  for (const { shared, group, parent, tree } of rows) {
    if (shared === 0 || (parent < 0 && !tree.origin)) continue;
    lengths.set(group, (lengths.get(group) ?? new Set<number>()).add(shared));
  }
  const sorted = new Map(
    [...lengths].map(([group, all]) => [group, [...all].sort((a, b) => a - b)]),
  );
  return (trajectory) => sorted.get(rows[trajectory]!.group) ?? [];
}

/** Rows cut where they part. A row that was left and is not there itself makes no fork. */
export function atForks(rows: readonly CreditRow[]): Cuts {
  const name = prefixNames(rows);
  const candidates = leftAt(rows);
  const ways = new Map<string, Set<string>>();
  const names = rows.map(({ length, tree, scored }, trajectory) =>
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

/** Rows cut between turns. */
export const atTurns =
  (rows: readonly CreditRow[]): Cuts =>
  (trajectory) =>
    rows[trajectory]!.turns.slice(0, -1).map(({ end }) => end);

/** Rows cut between what the policy wrote in one go each. */
export const atSegments =
  (rows: readonly CreditRow[]): Cuts =>
  (trajectory) =>
    rows[trajectory]!.segments.slice(0, -1);
