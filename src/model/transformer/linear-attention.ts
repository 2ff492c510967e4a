import { inMatmulPrecision } from "../../tensor/matmul-precision.js";
import { takeRows } from "../../tensor/ops/take-rows.js";
import { CHUNK, gatedDeltaRule } from "../../tensor/ops/gated-delta-rule.js";
import { rmsNorm } from "../../tensor/ops/rms-norm.js";
import { swiglu } from "../../tensor/ops/swiglu.js";
import { tf } from "../../tensor/tf.js";
import type { LinearLayers } from "../architectures/definition.js";
import { common } from "./gated-attention.js";
import { recompute } from "./recompute.js";
import type { Sharing } from "./token-batch.js";
import { type LayerWeights, linearWidths, type Project } from "./weights.js";

/** Added to a query's or a key's sum of squares before its root divides it. */
const LENGTH_EPSILON = 1e-6;

/** Where each number of the rows stands once they are cut into chunks of lines: a line is a head of a row. */
interface Chunks {
  rows: number;
  time: number;
  size: number;
  chunks: number;
}

/** Positions of a row are cut into chunks of a power of 2, the last one padded. */
function chunksOf(rows: number, time: number): Chunks {
  const size = Math.min(CHUNK, 2 ** Math.ceil(Math.log2(time)));
  return { rows, time, size, chunks: Math.ceil(time / size) };
}

/** One number for each place of chunked lines [chunks, rows, heads, size] and of `parts` that each has. */
function places(
  { rows, time, size, chunks }: Chunks,
  heads: number,
  parts: number,
  of: (place: number, head: number, part: number) => number,
): tf.Tensor1D {
  const all = new Int32Array(chunks * rows * heads * size * parts);
  let at = 0;
  for (let c = 0; c < chunks; c++) {
    for (let r = 0; r < rows; r++) {
      for (let h = 0; h < heads; h++) {
        for (let i = 0; i < size; i++) {
          const place = r * time + Math.min(time - 1, c * size + i);
          for (let part = 0; part < parts; part++) all[at++] = of(place, h, part);
        }
      }
    }
  }
  return tf.tensor1d(all, "int32");
}

/** silu(x). */
const silu = (x: tf.Tensor): tf.Tensor => swiglu(x, tf.onesLike(x));

/** Adds a row of zeros, which stands for what is not there. */
const withZeros = (x: tf.Tensor): tf.Tensor => tf.concat([x, tf.zeros([1, x.shape[1]!])], 0);

/**
 * A causal convolution of each channel by itself, with SiLU: mixed [tokens, channels], each place of the rows
 * `unfold` [rows, time] seeing the places before it. Gives [rows * time, channels].
 */
function convolved(mixed: tf.Tensor, weight: tf.Tensor, unfold: tf.Tensor2D): tf.Tensor {
  const [tokens, channels] = mixed.shape as [number, number];
  const [rows, time] = unfold.shape;
  const taps = weight.shape[2]!;
  const matrix: tf.Tensor2D = weight.reshape([channels, taps]);
  const table = withZeros(mixed);
  let sum: tf.Tensor | undefined;
  for (let back = 0; back < Math.min(taps, time); back++) {
    const earlier = tf.concat(
      [tf.fill([rows, back], tokens, "int32"), unfold.slice([0, 0], [rows, time - back])],
      1,
    );
    const which = new Float32Array(taps);
    which[taps - 1 - back] = 1;
    // The tap's weights, for every place.
    const tap = tf.matMul(
      tf.ones([rows * time, 1]),
      tf.matMul(tf.tensor2d(which, [1, taps]), matrix, false, true),
    );
    const found = takeRows(table, earlier.reshape([rows * time])).mul(tap);
    sum = sum ? sum.add(found) : found;
  }
  return silu(sum!);
}

/** What the delta rule finds for each head of every place: [chunks * rows * heads * size, valueDim]. */
function found(
  [mixed, weight, decay, beta]: readonly tf.Tensor[],
  unfold: tf.Tensor2D,
  linear: LinearLayers,
): tf.Tensor {
  const { keyHeads, valueHeads: heads, keyDim, valueDim } = linear;
  const { keys, mixed: width } = linearWidths(linear);
  const [rows, time] = unfold.shape;
  const cut = chunksOf(rows, time);
  const { size, chunks } = cut;
  const tokens = mixed!.shape[0]!;
  const count = chunks * rows * heads;
  // Queries, keys and values are so many units of what comes out of the convolution.
  const unit = common(keyDim, valueDim);
  const units = width / unit;
  const table = convolved(mixed!, weight!, unfold).reshape([rows * time * units, unit]);
  const part = (from: number, dim: number, headOf: (head: number) => number): tf.Tensor3D => {
    const own = (place: number, head: number, n: number) =>
      place * units + (from + headOf(head) * dim) / unit + n;
    return takeRows(table, places(cut, heads, dim / unit, own)).reshape([count, size, dim]);
  };
  const keyHead = (head: number) => Math.floor((head * keyHeads) / heads);
  // x / sqrt(sum of squares + epsilon) is a norm over the mean of squares.
  const direction = (x: tf.Tensor3D, scale: number): tf.Tensor3D =>
    rmsNorm(x, tf.fill([keyDim], scale), LENGTH_EPSILON / keyDim) as tf.Tensor3D;
  // The padding neither fades the state nor writes to it.
  const missing = chunks * size - time;
  const padded = tf.concat([unfold, tf.fill([rows, missing], tokens, "int32")], 1);
  const index = padded
    .reshape([rows, chunks, size])
    .transpose([1, 0, 2])
    .reshape([chunks, rows, 1, size])
    .mul(tf.scalar(heads, "int32"))
    .add(tf.range(0, heads, 1, "int32").reshape([1, 1, heads, 1]))
    .reshape<tf.Tensor1D>([count * size]);
  const numbers = (x: tf.Tensor): tf.Tensor2D =>
    takeRows(withZeros(x).reshape([-1, 1]), index).reshape([count, size]);
  const given = {
    q: direction(part(0, keyDim, keyHead), 1 / keyDim),
    k: direction(part(keys, keyDim, keyHead), 1 / Math.sqrt(keyDim)),
    v: part(2 * keys, valueDim, (head) => head),
    decay: numbers(decay!),
    beta: numbers(beta!),
  };
  return gatedDeltaRule(given, rows * heads).reshape([count * size, valueDim]);
}

/**
 * Linear attention over x [rows, time, hiddenSize], or over shared tokens, as Qwen3.5 has it: queries, keys and values go
 * through a short convolution and a gated delta rule, whose state begins with each row. What it computes within is
 * not kept for the backward pass but computed again.
 */
export function linearAttention(
  x: tf.Tensor,
  weights: LayerWeights,
  project: Project,
  sharing: Pick<Sharing, "unfold" | "fold"> | undefined,
  { linear, normEpsilon }: { linear: LinearLayers; normEpsilon: number },
): tf.Tensor {
  const [batch, length] = x.shape as [number, number];
  const { valueHeads: heads, valueDim } = linear;
  const { values, mixed: width } = linearWidths(linear);
  const name = (part: string) => `linear_attn.${part}`;
  const flat = (given: tf.Tensor, columns: number): tf.Tensor2D =>
    given.reshape([batch * length, columns]);
  const [mixed, gate] = project(x, name("in_proj_qkv"), name("in_proj_z"));
  const [b, a] = project(x, name("in_proj_b"), name("in_proj_a"));
  const beta = flat(b!, heads).sigmoid();
  const rate = weights[name("A_log")]!.exp();
  const decay = flat(a!, heads).add(weights[name("dt_bias")]!).softplus().mul(rate).neg();

  const unfold: tf.Tensor2D =
    sharing?.unfold ?? tf.range(0, batch * length, 1, "int32").reshape([batch, length]);
  const [rows, time] = unfold.shape;
  // Products of the state are in single precision, whatever those of matrices are in.
  const seen = inMatmulPrecision("float32", () =>
    recompute(
      (given, [index]) => found(given, index as tf.Tensor2D, linear),
      [flat(mixed!, width), weights[name("conv1d.weight")]!, decay, beta],
      [unfold],
    ),
  );
  // Back to the order of the rows, then to that of the tokens.
  const { size } = chunksOf(rows, time);
  const order = new Int32Array(rows * time * heads);
  for (let r = 0, at = 0; r < rows; r++) {
    for (let t = 0; t < time; t++) {
      const chunk = Math.floor(t / size);
      for (let h = 0; h < heads; h++) {
        order[at++] = ((chunk * rows + r) * heads + h) * size + (t % size);
      }
    }
  }
  const back = tf.tensor2d(order, [rows * time, heads], "int32");
  const own = sharing ? tf.gather(back, sharing.fold) : back;
  const core = takeRows(seen, own.reshape([batch * length * heads]));
  const normed = rmsNorm(core, weights[name("norm.weight")]!, normEpsilon);
  const gated = swiglu(gate!.reshape([batch * length * heads, valueDim]), normed);
  return project(gated.reshape([batch, length, values]), name("out_proj"))[0]!;
}
