import type { TrajectoryEnd } from "../../../../rollout/tree/tree-values.js";
import { isRightScore } from "../../../../reward/right.js";
import type { PageTrajectory, Verdict } from "../../payload.js";
import { laneOf, pathOf } from "./paths.js";
import { type Fault, faultsOf, peaksOf, type Word } from "./what-stands-out.js";
import { type PageTree, textOf } from "./unpack-tree.js";

/** What each is called. */
export const verdictNames: Readonly<Record<Verdict, string>> = {
  ...{ right: "right", wrong: "wrong", invalid: "invalid format", unfinished: "no answer" },
};

/** What follows from a tree alone, computed once. */
export interface TreeFacts {
  tree: PageTree;
  /** Of each trajectory the nodes that its lane shows. */
  own: number[][];
  /** Of each trajectory the nodes from the prompt to its leaf, without end tokens. */
  paths: number[][];
  /** Of each trajectory the one it hangs under; -1 where it starts at the prompt. */
  above: number[];
  /** Of each node the branches that start after it. */
  born: number[][];
  /** Whether branches start after a node that the model wrote, inside a turn. */
  split: boolean[];
  /** Tool results before each node on its path, and the most of them plus one. */
  turn: number[];
  turns: number;
  branches: number;
  /** Tokens of the whole tree. */
  tokens: number;
  /** Of each trajectory. */
  verdicts: (Verdict | undefined)[];
  answers: string[];
  /** Of each that was not right the word at which it left a right one's path. */
  faults: (Fault | undefined)[];
  /** Of a node the words at which the model was least sure. */
  peaks: (node: number) => Word[];
  advantages: (number | undefined)[];
  /** Mean score of the trajectories that have one. */
  mean: number | undefined;
}

// The answer stands at the end.
const answerTokens = 400;

/** Computes them. */
export function factsOf(tree: PageTree): TreeFacts {
  const { nodes, trajectories } = tree;
  const own: number[][] = trajectories.map(() => []);
  const turn: number[] = [];
  nodes.forEach((node, i) => {
    if (node.kind !== "end") own[laneOf(tree, i)]?.push(i);
    const before = node.parent < 0 ? 0 : turn[node.parent]!;
    const isAfterResult = node.parent >= 0 && nodes[node.parent]!.kind === "tool";
    turn.push(before + (isAfterResult && node.kind !== "end" ? 1 : 0));
  });
  const born: number[][] = nodes.map(() => []);
  const above = trajectories.map(({ from, parent, kind }, i) => {
    if (kind === "branch" && from >= 0) born[from]!.push(i);
    // Trajectories of imported files share beginnings without being branches.
    const lane = from >= 0 ? laneOf(tree, from) : kind === "branch" ? parent : -1;
    return lane === i ? -1 : lane;
  });
  const scores = trajectories.flatMap(({ score }) => (score == null ? [] : [score]));
  const paths = trajectories.map((_, i) =>
    pathOf(tree, i).filter((id) => nodes[id]!.kind !== "end"),
  );
  const verdicts = trajectories.map((one) => verdictOf(one, tree.rightBy !== undefined));
  const peaks = new Map<number, Word[]>();
  return {
    ...{ tree, own, paths, above, born, turn, verdicts },
    faults: faultsOf({ tree, paths, verdicts }),
    peaks: (node) => {
      if (!peaks.has(node)) peaks.set(node, peaksOf(tree, node));
      return peaks.get(node)!;
    },
    split: nodes.map(({ kind }, i) => kind === "model" && born[i]!.length > 0),
    turns: 1 + turn.reduce((most, each) => Math.max(most, each), 0),
    branches: trajectories.filter(({ kind }) => kind === "branch").length,
    tokens: nodes.reduce((sum, { length }) => sum + length, 0),
    answers: paths.map((path) => answerOf(tree, path)),
    advantages: paths.map((path) => advantageOf(tree, path)),
    mean: scores.length > 0 ? scores.reduce((a, b) => a + b, 0) / scores.length : undefined,
  };
}

/** Ends at which the model itself has said all it wanted; other ends cut it off, or are errors. */
const finished: readonly string[] = ["answer", "done", "bad-call"] satisfies TrajectoryEnd[];

/** `told`: which are right is told beside the scores. */
function verdictOf({ score, end, verdict }: PageTrajectory, told: boolean): Verdict | undefined {
  if (score == null) return verdict;
  if (told ? verdict === "right" : isRightScore(score)) return "right";
  if (!finished.includes(end)) return "unfinished";
  return told ? verdict : score < 0 ? "invalid" : "wrong";
}

/** What a trajectory gave as its answer; empty where it gave none. */
function answerOf(tree: PageTree, path: readonly number[]): string {
  const last = tree.nodes[path.at(-1) ?? -1];
  if (last?.kind !== "model") return "";
  const text = last.text ?? textOf(tree, last, last.length - answerTokens);
  return answerIn(text);
}

/** The answer in a text: what is boxed, else what is tagged. */
export function answerIn(text: string): string {
  const boxed = [...text.matchAll(/\\boxed\{([^}]*)(\}|$)/g)].findLast(([, , end]) => end !== "");
  const tagged = [...text.matchAll(/<answer>([^<]*)/g)].at(-1);
  return ((boxed ?? tagged)?.[1] ?? "").trim();
}

/** The advantage of a trajectory's last trained token: its own, where earlier ones are shared. */
function advantageOf({ nodes, advantages }: PageTree, path: readonly number[]): number | undefined {
  if (!advantages) return undefined;
  for (const id of [...path].reverse()) {
    const { start, length } = nodes[id]!;
    for (let i = start + length - 1; i >= start; i--) {
      if (!Number.isNaN(advantages[i])) return advantages[i];
    }
  }
  return undefined;
}

/** The trajectories above one, itself first: those whose lanes its path runs through. */
export function ancestors({ above }: TreeFacts, trajectory: number): number[] {
  const list: number[] = [];
  for (let at = trajectory; at >= 0; at = above[at]!) list.push(at);
  return list;
}
