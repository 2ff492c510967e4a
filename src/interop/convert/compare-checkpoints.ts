import { checkArguments } from "../../../common/options/check-arguments.js";
import {
  checkOptions,
  notNegative,
  oneOf,
  type OptionRules,
} from "../../../common/options/check-options.js";
import { packHalf, unpackHalf, type WeightType, weightTypes } from "../../model/files/half.js";
import { openCheckpoint } from "./open-checkpoint.js";
import { readBaseFiles } from "./base-files.js";
import { existsSync } from "#platform/files";
import { join } from "#platform/path";
import type { WeightSource } from "./weight-source.js";

/** How checkpoints are compared. */
export interface CompareOptions {
  /**
   * Both sides are rounded to this type first. Default: bfloat16 where one side is verl's shards, as
   * its merger does; else nothing is rounded and types must be the same.
   */
  dtype?: WeightType;
  /** How far values may differ: |a − b| ≤ tolerance · (1 + |b|). Default 1e-6, as in verl's merger. */
  tolerance?: number;
  /** Sees every tensor as soon as it is compared. */
  onTensor?(row: TensorComparison): void;
}

const rules: OptionRules<CompareOptions> = {
  dtype: oneOf(weightTypes),
  tolerance: notNegative,
  onTensor: "function?",
};

/** One tensor of two checkpoints. */
export interface TensorComparison {
  name: string;
  verdict:
    "equal" | "close" | "values differ" | "shapes differ" | "types differ" | "missing" | "extra";
  /** Shape and type on each side; undefined where the tensor is not there. */
  from: string | undefined;
  to: string | undefined;
  /** Values that are not the same, how many of them beyond the tolerance, and the largest difference. */
  differing: number;
  beyond: number;
  largest: number;
}

/** Two checkpoints, compared. */
export interface Comparison {
  match: boolean;
  rows: TensorComparison[];
}

function rounded(values: Float32Array, type: WeightType | undefined): Float32Array {
  if (type === undefined || type === "float32") return values;
  const out = new Float32Array(values.length);
  unpackHalf(packHalf(values, type), type, out);
  return out;
}

function compareValues(a: Float32Array, b: Float32Array, tolerance: number) {
  let [differing, beyond, largest] = [0, 0, 0];
  for (let i = 0; i < a.length; i++) {
    const [x, y] = [a[i]!, b[i]!];
    if (Object.is(x, y) || x === y) continue;
    differing++;
    const difference = Math.abs(x - y);
    if (!(difference <= tolerance * (1 + Math.abs(y)))) beyond++;
    if (!(difference <= largest)) largest = difference; // a NaN stays
  }
  return { differing, beyond, largest };
}

/** Names without an output matrix that the config ties to embeddings which are there too. */
async function names(source: WeightSource): Promise<string[]> {
  const all = [...source.tensors.keys()];
  const { folder } = source;
  const config = ["huggingface/config.json", "config.json"].some((n) =>
    existsSync(join(folder, n)),
  );
  if (!config || !source.tensors.has("model.embed_tokens.weight")) return all;
  const { tied } = await readBaseFiles(folder);
  return tied ? all.filter((name) => name !== "lm_head.weight") : all;
}

/**
 * Compares two checkpoints tensor by tensor: names, shapes, types and values. An output matrix that a
 * config ties to the embeddings counts as one with them.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { mkdtemp } from "node:fs/promises";
 * import { tmpdir } from "node:os";
 * import { join } from "node:path";
 * import { compareCheckpoints } from "arpo-lab/experimental/convert";
 * import { Model, saveModel } from "arpo-lab/model";
 *
 * const [from, to] = [await mkdtemp(join(tmpdir(), "arpo-")), await mkdtemp(join(tmpdir(), "arpo-"))];
 * const sizes = { vocabSize: 50, hiddenSize: 16, intermediateSize: 32, layers: 1, heads: 2 };
 * await saveModel(Model.init(sizes, 1), from);
 * await saveModel(Model.init(sizes, 1), to, { dtype: "bfloat16" });
 * assert.equal((await compareCheckpoints(from, to)).match, false); // the types differ
 * assert.equal((await compareCheckpoints(from, to, { dtype: "bfloat16" })).match, true);
 * ```
 */
export async function compareCheckpoints(
  from: string,
  to: string,
  options: CompareOptions = {},
): Promise<Comparison> {
  checkArguments("compare checkpoints", { from, to }, { from: "path", to: "path" });
  checkOptions("compare checkpoints", options, rules);
  const a = await openCheckpoint(from);
  try {
    const b = await openCheckpoint(to);
    try {
      return await compare(a, b, options);
    } finally {
      await b.close();
    }
  } finally {
    await a.close();
  }
}

async function compare(
  a: WeightSource,
  b: WeightSource,
  { dtype, tolerance = 1e-6, onTensor }: CompareOptions,
): Promise<Comparison> {
  const shards = [a, b].some(({ kind }) => kind === "verl shards");
  const type = dtype ?? (shards ? "bfloat16" : undefined);
  const rows: TensorComparison[] = [];
  const [left, right] = [new Set(await names(a)), new Set(await names(b))];
  for (const name of [...new Set([...left, ...right])].sort()) {
    const one = left.has(name) ? a.tensors.get(name) : undefined;
    const other = right.has(name) ? b.tensors.get(name) : undefined;
    const row: TensorComparison = {
      name,
      verdict: "equal",
      from: one && `${one.type}[${one.shape}]`,
      to: other && `${other.type}[${other.shape}]`,
      differing: 0,
      beyond: 0,
      largest: 0,
    };
    if (!one) row.verdict = "missing";
    else if (!other) row.verdict = "extra";
    else if (`${one.shape}` !== `${other.shape}`) row.verdict = "shapes differ";
    else if (type === undefined && one.type !== other.type) row.verdict = "types differ";
    else {
      const values = rounded(await a.read(name), type);
      Object.assign(row, compareValues(values, rounded(await b.read(name), type), tolerance));
      if (row.differing > 0) row.verdict = row.beyond > 0 ? "values differ" : "close";
    }
    rows.push(row);
    onTensor?.(row);
  }
  const match = rows.every(({ verdict }) => verdict === "equal" || verdict === "close");
  return { match, rows };
}
