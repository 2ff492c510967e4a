import { Random } from "../../src/base/random/random.js";
import { sharedPlaces } from "../../src/model/transformer/sharing.js";
import { causalAttention } from "../../src/tensor/ops/causal-attention.js";
import { embed } from "../../src/tensor/ops/embed.js";
import { linear } from "../../src/tensor/ops/linear.js";
import { logProbEntropyFromHidden } from "../../src/tensor/ops/log-prob-entropy-from-hidden.js";
import { qkv } from "../../src/tensor/ops/qkv.js";
import type { QkvWeights } from "../../src/tensor/plain.js";
import { rmsNorm } from "../../src/tensor/ops/rms-norm.js";
import { rope } from "../../src/tensor/ops/rope.js";
import { sharedAttention } from "../../src/tensor/ops/shared-attention.js";
import { geglu, swiglu } from "../../src/tensor/ops/swiglu.js";
import { tf } from "../../src/tensor/tf.js";

type Tensors = Record<string, tf.Tensor>;

/** A fused op with inputs to try it on; gradients are taken in every float32 input. */
export interface OpCase {
  name: string;
  shapes: Record<string, number[]>;
  /** Float32 inputs that are not differentiated, besides cos and sin. */
  fixed?: readonly string[];
  /** Int32 inputs, not differentiated. */
  ids?: Record<string, { shape: number[]; values: number[] }>;
  run(inputs: Tensors): tf.Tensor[];
}

/** The values of an op's outputs and the gradients of a fixed mixture of them. */
export interface OpResult {
  values: number[][];
  gradients: Record<string, number[]>;
}

const qkvShape = { heads: 4, kvHeads: 2, headDim: 6, epsilon: 1e-5 };
const projections = { wq: [24, 10], wk: [12, 10], wv: [12, 10] };
const biases = { bq: [24], bk: [12], bv: [12] };
const rotary = { cos: [7, 3], sin: [7, 3] };

function project({ x, cos, sin, ...weights }: Tensors): tf.Tensor[] {
  const { q, k, v } = qkv(x!, weights as unknown as QkvWeights, cos!, sin!, qkvShape);
  return [q, k, v];
}

function repeat(count: number, below: number): number[] {
  return Array.from({ length: count }, (_, i) => (i * 7 + 3) % below);
}

/** Attention of rows that share the tokens they begin with. */
export function sharedCase(
  name: string,
  rows: readonly number[][],
  {
    headDim = 4,
    kvHeads = 1,
    group = 2,
    window,
  }: Partial<Record<"headDim" | "kvHeads" | "group" | "window", number>>,
): OpCase {
  const { shared, fold, index, time } = sharedPlaces(rows);
  const keys = [1, shared.length, kvHeads, headDim];
  return {
    name,
    shapes: { q: [1, shared.length, kvHeads * group, headDim], k: keys, v: keys },
    ids: {
      lengths: { shape: [rows.length], values: rows.map((row) => row.length) },
      unfold: { shape: [rows.length, time], values: [...index] },
      fold: { shape: [fold.length], values: fold },
    },
    run: ({ q, k, v, lengths, unfold, fold }) => {
      const sharing = { unfold: unfold as tf.Tensor2D, fold: fold as tf.Tensor1D };
      return [sharedAttention({ q: q!, k: k!, v: v! }, lengths!, sharing, window)];
    },
  };
}

/** Rows of letters. */
const written = (rows: string) =>
  rows.split(" ").map((row) => [...row].map((letter) => letter.charCodeAt(0)));

/** Sizes are odd on purpose: no multiple of a vector, a tile or a block. */
export const opCases: readonly OpCase[] = [
  {
    name: "rmsNorm",
    shapes: { x: [3, 5, 37], weight: [37] },
    run: ({ x, weight }) => [rmsNorm(x!, weight!, 1e-5)],
  },
  {
    name: "linear",
    shapes: { x: [2, 5, 19], weight: [53, 19] },
    run: ({ x, weight }) => [linear(x!, weight!)],
  },
  {
    name: "linear with bias",
    shapes: { x: [13, 33], weight: [21, 33], bias: [21] },
    run: ({ x, weight, bias }) => [linear(x!, weight!, bias)],
  },
  { name: "qkv", shapes: { x: [2, 5, 10], ...projections, ...rotary }, run: project },
  {
    name: "qkv with bias",
    shapes: { x: [2, 5, 10], ...projections, ...biases, ...rotary },
    run: project,
  },
  {
    name: "qkv with head norms",
    shapes: { x: [2, 5, 10], ...projections, ...rotary, qNorm: [6], kNorm: [6] },
    run: project,
  },
  {
    name: "rope",
    shapes: { x: [2, 5, 3, 6], ...rotary },
    run: ({ x, cos, sin }) => [rope(x!, cos!, sin!)],
  },
  {
    name: "causalAttention",
    shapes: { q: [2, 11, 4, 6], k: [2, 11, 2, 6], v: [2, 11, 2, 6] },
    run: ({ q, k, v }) => [causalAttention(q!, k!, v!)],
  },
  {
    name: "causalAttention over several blocks",
    shapes: { q: [1, 107, 1, 3], k: [1, 107, 1, 3], v: [1, 107, 1, 3] },
    run: ({ q, k, v }) => [causalAttention(q!, k!, v!)],
  },
  {
    name: "causalAttention with lengths",
    shapes: { q: [3, 9, 2, 4], k: [3, 9, 1, 4], v: [3, 9, 1, 4] },
    ids: { lengths: { shape: [3], values: [9, 4, 0] } },
    run: ({ q, k, v, lengths }) => [causalAttention(q!, k!, v!, lengths)],
  },
  {
    name: "causalAttention with a window",
    shapes: { q: [2, 11, 4, 6], k: [2, 11, 2, 6], v: [2, 11, 2, 6] },
    run: ({ q, k, v }) => [causalAttention(q!, k!, v!, undefined, 4)],
  },
  {
    name: "causalAttention with a window over several blocks",
    shapes: { q: [1, 107, 1, 3], k: [1, 107, 1, 3], v: [1, 107, 1, 3] },
    run: ({ q, k, v }) => [causalAttention(q!, k!, v!, undefined, 37)],
  },
  {
    name: "causalAttention with a window and lengths",
    shapes: { q: [3, 9, 2, 4], k: [3, 9, 1, 4], v: [3, 9, 1, 4] },
    ids: { lengths: { shape: [3], values: [9, 4, 0] } },
    run: ({ q, k, v, lengths }) => [causalAttention(q!, k!, v!, lengths, 3)],
  },
  sharedCase("sharedAttention", written("abcd abx abcyz abcd a abcdefg"), { headDim: 6 }),
  sharedCase("sharedAttention with a window", written("abcdef abcxyz abcdeuv q"), { window: 3 }),
  sharedCase(
    "sharedAttention over several blocks",
    [0, 70, 40, 107].map((from, r) => [...repeat(from, 99), ...new Array<number>(110 - from).fill(100 + r)]), // prettier-ignore
    { headDim: 3, kvHeads: 2, group: 1 },
  ),
  {
    name: "geglu",
    shapes: { gate: [3, 7, 11], up: [3, 7, 11] },
    run: ({ gate, up }) => [geglu(gate!, up!)],
  },
  {
    name: "swiglu",
    shapes: { gate: [3, 7, 11], up: [3, 7, 11] },
    run: ({ gate, up }) => [swiglu(gate!, up!)],
  },
  {
    name: "embed",
    shapes: { table: [9, 13] },
    ids: { ids: { shape: [2, 6], values: repeat(12, 9) } },
    run: ({ table, ids }) => [embed(table!, ids!)],
  },
  {
    name: "logProbEntropyFromHidden",
    shapes: { hidden: [11, 8], head: [37, 8] },
    ids: { labels: { shape: [11], values: repeat(11, 37) } },
    run: ({ hidden, head, labels }) => {
      const { logprobs, entropies } = logProbEntropyFromHidden(hidden!, head!, labels!, 0.7);
      return [logprobs, entropies];
    },
  },
];

/** The same inputs wherever it is called: they depend on the names only. */
export function caseInputs(op: OpCase): Record<string, Float64Array> {
  const random = Random.from(5).split(op.name);
  return Object.fromEntries(
    Object.entries(op.shapes).map(([name, shape]) => {
      const stream = random.split(name);
      const size = shape.reduce((a, b) => a * b, 1);
      // What float32 holds exactly, so that float64 starts from the same numbers.
      return [name, Float64Array.from({ length: size }, () => Math.fround(stream.normal()))];
    }),
  );
}

function mixture(outputs: tf.Tensor[]): tf.Scalar {
  const parts = outputs.map((output, i) => {
    const weights = Array.from({ length: output.size }, (_, j) => Math.sin(1 + i + 0.7 * j));
    return output.mul(tf.tensor(weights, output.shape)).sum();
  });
  return tf.addN(parts) as tf.Scalar;
}

/** The mixture of an op's outputs at given inputs: what its gradients are gradients of. */
export function caseLoss(op: OpCase, inputs: Record<string, Float64Array>): number {
  return tf.tidy(() => mixture(op.run(caseTensors(op, inputs))).dataSync()[0]!);
}

function caseTensors(op: OpCase, inputs: Record<string, Float64Array>): Tensors {
  const tensors: Tensors = {};
  for (const [name, shape] of Object.entries(op.shapes)) {
    tensors[name] = tf.tensor([...inputs[name]!], shape, "float32");
  }
  for (const [name, { shape, values }] of Object.entries(op.ids ?? {})) {
    tensors[name] = tf.tensor(values, shape, "int32");
  }
  return tensors;
}

/** Runs an op forwards and backwards on the backend in use. */
export async function runCase(op: OpCase): Promise<OpResult> {
  const fixed = ["cos", "sin", ...(op.fixed ?? [])];
  const names = Object.keys(op.shapes).filter((name) => !fixed.includes(name));
  const [outputs, slopes] = tf.tidy(() => {
    const tensors = caseTensors(op, caseInputs(op));
    const outputs = op.run(tensors);
    const slopes = tf.grads((...given: tf.Tensor[]) => {
      const changed = Object.fromEntries(names.map((name, i) => [name, given[i]!]));
      return mixture(op.run({ ...tensors, ...changed }));
    })(names.map((name) => tensors[name]!));
    return [outputs, slopes];
  });
  // A GPU is read only this way.
  const read = (tensors: tf.Tensor[]) =>
    Promise.all(tensors.map(async (tensor) => [...(await tensor.data())]));
  const [values, gradients] = [await read(outputs), await read(slopes)];
  tf.dispose([outputs, slopes]);
  return {
    values,
    gradients: Object.fromEntries(names.map((name, i) => [name, gradients[i]!])),
  };
}
