import { checkOptions, oneOf } from "../../../common/options/check-options.js";
import { shown } from "../../../common/options/check-arguments.js";
import { Evaluation } from "../../eval/report/evaluation.js";
import { type BatchSequence, TrainingBatch } from "../../learn/batch.js";
import { UpdateReport } from "../../learn/update/update-report.js";
import { Scored } from "../../reward/scored.js";
import { RolloutTree } from "../../rollout/rollout-tree.js";
import type { TreeNode } from "../../rollout/tree/tree-values.js";
import { TrainingRun } from "../../run/trainer/training-run.js";

/** What a cell of a table can hold. */
type Cell = number | string | boolean;

/** An object as one row: what is inside objects gets dotted names, lists become JSON. */
function flatten(value: object, prefix = ""): Record<string, Cell> {
  const out: Record<string, Cell> = {};
  for (const [key, inside] of Object.entries(value) as [string, unknown][]) {
    const name = `${prefix}${key}`;
    if (inside === undefined || inside === null) continue;
    if (typeof inside === "bigint") out[name] = Number(inside);
    else if (["number", "string", "boolean"].includes(typeof inside)) out[name] = inside as Cell;
    else if (inside instanceof Date) out[name] = inside.toISOString();
    else if (ArrayBuffer.isView(inside)) {
      out[name] = JSON.stringify([...(inside as Float32Array)]);
    } else if (Array.isArray(inside)) out[name] = JSON.stringify(inside);
    else if (typeof inside === "object") Object.assign(out, flatten(inside, `${name}.`));
  }
  return out;
}

/** One row of a table: plain values by column. */
export type FrameRow = Record<string, Cell>;

export interface RowsOptions {
  /**
   * What a row is. Trees: `trajectory` (default), `node`, `token`. Batches and reports of updates:
   * `trajectory` (default of batches), `token`, and `metric` (default of reports). Evaluations:
   * `sample` (default), `benchmark`. Elsewhere there is nothing to choose.
   */
  by?: "trajectory" | "node" | "token" | "metric" | "sample" | "benchmark";
}

const choices = {
  tree: ["trajectory", "node", "token"],
  batch: ["trajectory", "token"],
  report: ["trajectory", "token", "metric"],
  evaluation: ["sample", "benchmark"],
} as const satisfies Record<string, readonly RowsOptions["by"][]>;

const sum = (values: ArrayLike<number>) => Array.from(values).reduce((a, b) => a + b, 0);

function trajectoryRows(trees: readonly RolloutTree[]): FrameRow[] {
  return trees.flatMap((tree) =>
    tree.selected.map((t) => ({
      tree: tree.index,
      trajectory: t.id,
      kind: tree.trajectories[t.id]!.kind,
      end: t.end,
      tokens: t.tokens.length,
      written: sum(t.written),
      calls: t.toolCalls.length,
      failedCalls: t.toolCalls.filter(({ ok }) => !ok).length,
      logprob: sum(t.logprobs.filter((value) => !Number.isNaN(value))),
      prompt: tree.prompt.text,
      text: t.text,
    })),
  );
}

function nodeRows(trees: readonly RolloutTree[]): FrameRow[] {
  return trees.flatMap((tree) =>
    tree.nodes.map((node) => ({
      tree: tree.index,
      node: node.id,
      parent: node.parent,
      kind: node.kind,
      trajectory: node.trajectory,
      round: node.round,
      tokens: node.tokens.length,
      entropy: node.entropy ?? NaN,
      logprob: sum(node.logprobs),
      finish: node.finish ?? "",
      tool: node.tool?.tag ?? "",
      ok: node.tool?.ok ?? true,
      attempts: node.branch?.length ?? 0,
      branches: node.branch?.filter(({ child }) => child !== undefined).length ?? 0,
      text: node.text,
    })),
  );
}

function treeTokenRows(trees: readonly RolloutTree[]): FrameRow[] {
  const ofNode = (tree: number, node: TreeNode) =>
    Array.from(node.tokens, (token, i) => ({
      tree,
      node: node.id,
      kind: node.kind,
      at: i,
      token,
      logprob: node.logprobs[i] ?? NaN,
      entropy: node.entropies[i] ?? NaN,
    }));
  return trees.flatMap(({ index, nodes }) => nodes.flatMap((node) => ofNode(index, node)));
}

function treeRows(trees: readonly RolloutTree[], by: RowsOptions["by"]): FrameRow[] {
  if (by === "node") return nodeRows(trees);
  return by === "token" ? treeTokenRows(trees) : trajectoryRows(trees);
}

const scoredRows = ({ trajectories: rows }: Scored): FrameRow[] =>
  rows.map(({ trajectory, group, score }) => ({
    group,
    trajectory: trajectory.id,
    score: score.score,
    reason: score.reason,
    answer: score.answer ?? "",
    end: trajectory.end,
    tokens: trajectory.tokens.length,
    calls: trajectory.toolCalls.length,
    ...flatten(score.parts ?? {}, "part."),
    text: trajectory.text,
  }));

/** Mean of a row's numbers over the tokens that are trained. */
function trained(row: BatchSequence, values: Float32Array | undefined): number {
  const own = values?.filter((_, t) => row.trajectory.lossMask[t]);
  return own?.length ? sum(own) / own.length : NaN;
}

const batchRows = (rows: readonly BatchSequence[]): FrameRow[] =>
  rows.map((row) => ({
    group: row.group,
    trajectory: row.trajectory.id,
    reward: row.reward,
    advantage: trained(row, row.advantages),
    return: trained(row, row.returns),
    entropy: trained(row, row.entropies),
    oldLogprob: trained(row, row.oldLogprobs),
    newLogprob: trained(row, row.newLogprobs),
    tokens: row.trajectory.tokens.length,
    trained: sum(row.trajectory.lossMask),
    text: row.trajectory.text,
  }));

function tokenRows(rows: readonly BatchSequence[], report?: UpdateReport): FrameRow[] {
  return rows.flatMap((row) => {
    const updates = report && row.newLogprobs ? report.tokens(row) : undefined;
    return Array.from(row.trajectory.tokens, (token, t) => ({
      group: row.group,
      trajectory: row.trajectory.id,
      at: t,
      token,
      trained: row.trajectory.lossMask[t] === 1,
      advantage: row.advantages[t]!,
      entropy: row.entropies?.[t] ?? NaN,
      oldLogprob: row.oldLogprobs?.[t] ?? NaN,
      newLogprob: row.newLogprobs?.[t] ?? NaN,
      ratio: updates?.[t]?.ratio ?? NaN,
      region: updates?.[t]?.region ?? "",
      weight: updates?.[t]?.weight ?? NaN,
    }));
  });
}

function reportRows(report: UpdateReport, by: RowsOptions["by"]): FrameRow[] {
  if (by === "token") return tokenRows(report.batch.trajectories, report);
  if (by === "trajectory") return batchRows(report.batch.trajectories);
  return Object.entries(report.metrics).map(([metric, value]) => ({ metric, value }));
}

function runRows({ steps, validation }: TrainingRun): FrameRow[] {
  const held = new Map(validation.map(({ step, metrics }) => [step, metrics]));
  const rows = steps.map(({ step, metrics, timing }) => ({
    step,
    ...metrics,
    ...held.get(step),
    ...timing,
  }));
  const before = held.get(0);
  return before ? [{ step: 0, ...before }, ...rows] : rows;
}

function evaluationRows(evaluation: Evaluation, by: RowsOptions["by"]): FrameRow[] {
  if (by === "benchmark") {
    return evaluation.benchmarks.map(({ name, questions, accuracy, passAt, summary }) => ({
      benchmark: name,
      questions,
      ...flatten(accuracy, "accuracy."),
      ...Object.fromEntries(passAt.map(({ k, value }) => [`pass@${k}`, value])),
      ...flatten(summary, "summary."),
    }));
  }
  return evaluation.samples.map((sample) => ({
    benchmark: sample.benchmark,
    question: sample.index,
    turn: sample.turn,
    status: sample.status,
    prediction: sample.prediction,
    answer: Array.isArray(sample.answer) ? sample.answer.join(" | ") : String(sample.answer),
    failedToolCalls: sample.failed_tool_calls,
    ...flatten(sample.metrics),
    output: sample.output,
  }));
}

interface FrameLike {
  columns: unknown[];
  values: unknown[];
}

/** A frame or series of any copy of danfojs. */
function isFrame(value: unknown): value is FrameLike {
  const f = value as Partial<Record<string, unknown>> | null | undefined;
  return [f?.columns, f?.values, f?.index, f?.dtypes].every(Array.isArray);
}

const frameRows = ({ columns, values }: FrameLike): FrameRow[] =>
  values.map((row) => {
    const cells = Array.isArray(row) ? (row as unknown[]) : [row];
    return flatten(Object.fromEntries(columns.map((name, i) => [String(name), cells[i]])));
  });

/** Columns of every row in every row, in the order in which they first come. */
function even(rows: readonly FrameRow[]): FrameRow[] {
  const kinds = new Map<string, "number" | "other">();
  for (const row of rows) {
    for (const [name, value] of Object.entries(row)) {
      const kind = typeof value === "number" ? "number" : "other";
      if (kinds.get(name) !== "other") kinds.set(name, kind);
    }
  }
  return rows.map((row) =>
    Object.fromEntries(
      [...kinds].map(([name, kind]) => [name, row[name] ?? (kind === "number" ? NaN : "")]),
    ),
  );
}

/**
 * Any value of the toolkit as rows of a table, every row with the same columns: trees, scores, batches,
 * updates, runs, lines of `metrics.jsonl`, evaluations, frames, and lists of objects. Where a row lacks a
 * number it has NaN.
 *
 * @param value a tree, scores, a batch, a report, a run or plain rows
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { rollout } from "arpo-lab/rollout";
 * import { ScriptedPolicy } from "arpo-lab/experimental/testing";
 * import { toRows } from "arpo-lab/view";
 *
 * const policy = new ScriptedPolicy(() => ({ text: "42\u0001" }));
 * const tree = await rollout(policy, { prompt: "6*7?" }, { n: 2 });
 * assert.deepEqual(toRows(tree).map(({ trajectory, text }) => [trajectory, text]), [[0, "42"], [1, "42"]]);
 * assert.equal(toRows(tree, { by: "token" }).length, 6);
 * assert.deepEqual(toRows([{ step: 1, a: { b: 2 } }, { step: 2 }]), [
 *   { step: 1, "a.b": 2 },
 *   { step: 2, "a.b": NaN },
 * ]);
 * ```
 */
export function toRows(value: unknown, options: RowsOptions = {}): FrameRow[] {
  checkOptions("make rows", options, { by: oneOf([...new Set(Object.values(choices).flat())]) });
  const by = (of: keyof typeof choices) => {
    checkOptions("make rows", options, { by: oneOf(choices[of]) });
    return options.by;
  };
  const rows = (): FrameRow[] => {
    if (value instanceof RolloutTree) return treeRows([value as RolloutTree], by("tree"));
    if (value instanceof TrainingBatch) {
      return by("batch") === "token"
        ? tokenRows(value.trajectories)
        : batchRows(value.trajectories);
    }
    if (value instanceof UpdateReport) return reportRows(value, by("report"));
    if (value instanceof Evaluation) return evaluationRows(value, by("evaluation"));
    if (Array.isArray(value) && value.length > 0) {
      if (value.every((one) => one instanceof RolloutTree)) return treeRows(value, by("tree"));
    }
    if (options.by !== undefined) {
      throw new RangeError(
        `Cannot make rows: by must be left out for a value with one kind of rows, got ${shown(options.by)}`,
      );
    }
    if (value instanceof Scored) return scoredRows(value);
    if (value instanceof TrainingRun) return runRows(value);
    if (isFrame(value)) return frameRows(value);
    if (Array.isArray(value) && value.length > 0) {
      if (value.every((one) => typeof one === "object" && one !== null)) {
        return value.map((one: object) => flatten(one));
      }
    }
    throw new TypeError(
      `Cannot make rows: the value must be a tree, scores, a batch, an update, a run, an evaluation, a frame or a list of objects, got ${Array.isArray(value) ? "a list of something else" : typeof value}`,
    );
  };
  return even(rows());
}
