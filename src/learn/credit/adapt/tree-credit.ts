import { at2po } from "../at2po.js";
import type { TreeInput, Credit, CreditSpan } from "../credit.js";
import type { CreditOptions } from "../options.js";
import { spoTree } from "../spo.js";
import { treeDiff, treeGrpo } from "../tree-grpo.js";
import { treePo } from "../treepo.js";
import { type CreditBatch, type CreditRow, familyOf } from "./rows.js";
import { atForks, atSegments, atTurns, type Cuts, promptTrees } from "./prompt-trees.js";

type Spans = readonly CreditSpan[][];

/** Every prompt's tree by itself, its rows' spans put in the order of the batch. */
function perPrompt(
  { rows, mask }: CreditBatch,
  cuts: Cuts,
  creditOf: (input: TreeInput, rows: readonly number[]) => Credit,
  entropy?: (trajectory: number, end: number) => number,
): Spans {
  const out: CreditSpan[][] = rows.map(() => []);
  for (const { tree, rows: own, leaves } of promptTrees(rows, cuts, entropy)) {
    const { spans } = creditOf(
      { tree, leaves, mask: own.map((trajectory) => mask[trajectory]!) },
      own,
    );
    own.forEach((trajectory, i) => (out[trajectory] = [...spans[i]!]));
  }
  return out;
}

export function treeGrpoSpans(batch: CreditBatch, options: CreditOptions["treeGrpo"] = {}): Spans {
  const { form, margin, ...rest } = options;
  const { rows, rewards, groups } = batch;
  if (form === "tree_diff") {
    return perPrompt(batch, atTurns(rows), (input) => treeDiff(input, { margin: margin ?? 0.1 }));
  }
  const family = familyOf(rows);
  const mask = rows.map(({ scored }) => scored.trajectory.attention);
  const input = { rewards, mask, groups, trees: rows.map((_, trajectory) => family(trajectory)) };
  return treeGrpo(input, { ...rest, ...(form ? { form } : {}) }).spans.map((spans) => [...spans]);
}

/** The mean surprisal, or entropy, of what the policy wrote last in the turn that ends there. */
function turnSignal({ tree, turns, scored }: CreditRow, end: number, signal: string): number {
  const turn = turns.find((one) => one.end === end && one.end > one.start);
  const written = turn?.nodes.map((id) => tree.nodes[id]!).filter(({ kind }) => kind === "model");
  const last = written?.at(-1);
  // What one call wrote is in several nodes where a row left it in the middle.
  const nodes = written?.filter(
    ({ trajectory, round }) => trajectory === last!.trajectory && round === last!.round,
  );
  const values = (nodes ?? []).flatMap((node) =>
    signal === "entropy" ? [...node.entropies] : Array.from(node.logprobs, (p) => -p),
  );
  if (values.length === 0) return 0;
  const mean = values.reduce((sum, v) => sum + v, 0) / values.length;
  if (Number.isFinite(mean)) return mean;
  const what = signal === "entropy" ? "entropies" : "log-probabilities";
  throw new TypeError(
    `Cannot use at2po: value "child_softmax" needs the ${what} of what was drawn, got none in row ${scored.trajectory.id} of ${scored.group}; value "child_mean" and "leaf_mean" do without`,
  );
}

export function at2poSpans(batch: CreditBatch, options: CreditOptions["at2po"] = {}): Spans {
  const { signal = "surprisal", ...rest } = options;
  const { rows } = batch;
  const weighs =
    (rest.value ?? "child_softmax") === "child_softmax" && rest.advantage !== "vanilla";
  return perPrompt(
    batch,
    atTurns(rows),
    (input) => at2po(input, rest),
    weighs ? (trajectory, end) => turnSignal(rows[trajectory]!, end, signal) : undefined,
  );
}

export const spoTreeSpans = (batch: CreditBatch, options: CreditOptions["spoTree"]): Spans =>
  perPrompt(batch, atForks(batch.rows), (input) => spoTree(input, options));

export function treePoSpans(batch: CreditBatch, options: CreditOptions["treepo"]): Spans {
  const { rows, rewards, mask } = batch;
  const paths: string[][] = [];
  const lengths: number[][] = [];
  promptTrees(rows, atSegments(rows)).forEach(({ tree, rows: own, paths: ways }, prompt) => {
    own.forEach((trajectory, i) => {
      const way = ways[i]!;
      // Rows that a short tree repeats need names of their own.
      const names = way.map((node, k) =>
        k === way.length - 1 ? `${node} of ${trajectory}` : `${node}`,
      );
      paths[trajectory] = [`prompt ${prompt}`, ...names];
      lengths[trajectory] = way.map((node) => tree.nodes[node]!.tokens);
    });
  });
  return treePo({ rewards, mask, paths, lengths }, options).spans.map((spans) => [...spans]);
}
