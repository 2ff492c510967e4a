import { studentInterval } from "../../eval/metrics/interval.js";
import { rightIn, ruleOf } from "../../reward/right-in.js";
import type { Scored } from "../../reward/scored.js";
import type { RolloutTree } from "../../rollout/rollout-tree.js";
import type { Trajectory } from "../../rollout/tree/trajectory.js";

export type Outcome = "right" | "wrong" | "invalid format" | "not scored";

/** A trajectory's line: the entropies of what the model wrote, aligned on the first tool result. */
export interface RibbonRow {
  /** The tree it is of, as a place in the list. */
  prompt: number;
  entropies: number[];
  /** Tokens before the first result. */
  zero: number;
  /** Tokens before this that another trajectory wrote. */
  own: number;
  outcome: Outcome;
  /** Offsets of later tool results. */
  results: number[];
  /** Where it starts as a branch; undefined where it starts at the prompt. */
  branch: number | undefined;
}

/** The mean at one offset. */
export interface RibbonMean {
  offset: number;
  mean: number;
  /** Half of the 95% interval over prompts; NaN for one prompt. */
  half: number;
  /** Tokens that it is the mean of. */
  tokens: number;
}

const order: Outcome[] = ["right", "wrong", "invalid format", "not scored"];

/** Of each scored trajectory how it ended. */
function outcomesOf(scored: Scored | undefined): Map<Trajectory | string, Outcome> {
  const all = scored?.trajectories ?? [];
  const rule = ruleOf(all);
  const isRight = rightIn(all, rule);
  return new Map<Trajectory | string, Outcome>(
    all.flatMap((one): [Trajectory | string, Outcome][] => {
      const { trajectory, score } = one;
      const right = isRight(one);
      const other = rule.scale === "usual" && score.score < 0 ? "invalid format" : "wrong";
      const outcome: Outcome = right === undefined ? "not scored" : right ? "right" : other;
      const key = `${trajectory.tree}.${trajectory.id}`;
      return [
        [trajectory, outcome],
        [key, outcome],
      ];
    }),
  );
}

/** The trajectories with a tool result, sorted by outcome and then by the entropy after it, and how many have none. */
export function ribbonRows(
  trees: readonly RolloutTree[],
  scored: Scored | undefined,
): { rows: RibbonRow[]; without: number } {
  const outcomes = outcomesOf(scored);
  const rows: RibbonRow[] = [];
  let without = 0;
  trees.forEach((tree, prompt) => {
    // Trees of several rollouts share their numbers: those that were scored are told by what they are.
    const isOwn = scored?.trees.includes(tree) === true;
    for (const trajectory of tree.trajectories) {
      const row = rowOf(tree, trajectory);
      const outcome = outcomes.get(isOwn ? trajectory : `${tree.index}.${trajectory.id}`);
      if (!row) without++;
      else rows.push({ ...row, prompt, outcome: outcome ?? "not scored" });
    }
  });
  const after = ({ entropies, zero }: RibbonRow) =>
    entropies.slice(zero, zero + 30).reduce((sum, entropy) => sum + entropy, 0);
  rows.sort((a, b) => order.indexOf(a.outcome) - order.indexOf(b.outcome) || after(b) - after(a));
  return { rows, without };
}

function rowOf(
  tree: RolloutTree,
  { from, kind, leaf }: Trajectory,
): Pick<RibbonRow, "entropies" | "zero" | "own" | "results" | "branch"> | undefined {
  const entropies: number[] = [];
  const results: number[] = [];
  let own = 0;
  for (const node of tree.path(leaf)) {
    if (node.kind === "tool") results.push(entropies.length);
    else if (node.kind === "model") {
      // One by one: a long segment is no list of arguments.
      for (const entropy of node.entropies) entropies.push(entropy);
    }
    if (node.id === from) own = entropies.length;
  }
  const zero = results[0];
  if (zero === undefined) return undefined;
  return {
    ...{ entropies, zero, own },
    results: results.slice(1).map((at) => at - zero),
    branch: kind === "branch" ? own - zero : undefined,
  };
}

/** The mean at every offset, each token once, and its interval over prompts. */
export function ribbonMeans(rows: readonly RibbonRow[], from: number, to: number): RibbonMean[] {
  const least = Math.min(12, Math.max(2, Math.ceil(rows.length / 4)));
  const means: RibbonMean[] = [];
  for (let offset = from; offset < to; offset++) {
    const prompts = new Map<number, { sum: number; count: number }>();
    let [tokens, sum] = [0, 0];
    for (const { entropies, zero, own, prompt } of rows) {
      const entropy = entropies[offset + zero];
      if (offset + zero < own || entropy === undefined || Number.isNaN(entropy)) continue;
      const known = prompts.get(prompt) ?? { sum: 0, count: 0 };
      prompts.set(prompt, { sum: known.sum + entropy, count: known.count + 1 });
      tokens++;
      sum += entropy;
    }
    if (tokens < least) continue;
    const ofPrompts = [...prompts.values()].map((each) => each.sum / each.count);
    const { mean, half } = studentInterval(ofPrompts);
    means.push({ offset, mean: ofPrompts.length > 1 ? mean : sum / tokens, half, tokens });
  }
  return means;
}
