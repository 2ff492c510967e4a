import { takeRows } from "../../tensor/ops/take-rows.js";
import { rmsNorm } from "../../tensor/ops/rms-norm.js";
import { rope } from "../../tensor/ops/rope.js";
import type { Qkv } from "../../tensor/plain.js";
import { tf } from "../../tensor/tf.js";
import type { ModelConfig } from "../config.js";
import type { RotaryTable } from "./rope.js";
import type { Project } from "./weights.js";

/** The largest number that divides both. */
export const common = (a: number, b: number): number => (b === 0 ? a : common(b, a % b));

const indices = (count: number, of: (i: number) => number): tf.Tensor1D =>
  tf.tensor1d(
    Int32Array.from({ length: count }, (_, i) => of(i)),
    "int32",
  );

/**
 * x [batch, time, heads, headDim] with the first `turning` numbers of a head where whole heads have what turns: the
 * first half of them at the head's beginning, the second from its middle on. Scores of queries and keys in one
 * order are what they are in any other.
 */
function spread(x: tf.Tensor, turning: number): tf.Tensor {
  const headDim = x.shape[3]!;
  const [few, half] = [turning / 2, headDim / 2];
  const unit = common(few, half);
  const units = headDim / unit;
  const places = Array.from({ length: units }, (_, i) => {
    const [side, at] = [Number(i * unit >= half), (i * unit) % half];
    const from = at < few ? side * few + at : turning + side * (half - few) + at - few;
    return from / unit;
  });
  const index = indices(x.size / unit, (i) => i - (i % units) + places[i % units]!);
  return takeRows(x.reshape([-1, unit]), index).reshape(x.shape);
}

/**
 * Queries, keys and values where each query comes with a gate beside it, or where a part of each head is turned by
 * position.
 */
export function gatedQkv(
  x: tf.Tensor,
  project: Project,
  { cos, sin }: RotaryTable,
  config: ModelConfig,
  headNorm: (letter: "q" | "k") => tf.Tensor | undefined,
): Qkv & { gate: tf.Tensor | undefined } {
  const { heads, kvHeads, headDim, rotaryDim = headDim, normEpsilon, gatedAttention } = config;
  const [batch, time] = x.shape as [number, number];
  const [both, keys, values] = project(
    x,
    ...["q", "k", "v"].map((letter) => `self_attn.${letter}_proj`),
  ) as [tf.Tensor, tf.Tensor, tf.Tensor];
  const count = batch * time * heads;
  const every = (which: 0 | 1): tf.Tensor =>
    takeRows(
      both.reshape([2 * count, headDim]),
      indices(count, (i) => 2 * i + which),
    );
  const turned = (given: tf.Tensor, letter: "q" | "k", many: number): tf.Tensor => {
    const split: tf.Tensor = given.reshape([batch, time, many, headDim]);
    const norm = headNorm(letter);
    const normed = norm ? rmsNorm(split, norm, normEpsilon) : split;
    return rope(rotaryDim === headDim ? normed : spread(normed, rotaryDim), cos, sin);
  };
  return {
    q: turned(gatedAttention ? every(0) : both, "q", heads),
    k: turned(keys, "k", kvHeads),
    v: values.reshape([batch, time, kvHeads, headDim]),
    gate: gatedAttention ? every(1).reshape([batch, time, heads * headDim]) : undefined,
  };
}
