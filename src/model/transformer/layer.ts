import { type Adapted, adaptedLinear, frozenLinear, linear } from "../../tensor/ops/linear.js";
import { causalAttention } from "../../tensor/ops/causal-attention.js";
import { qkv } from "../../tensor/ops/qkv.js";
import { rmsNorm } from "../../tensor/ops/rms-norm.js";
import { rope } from "../../tensor/ops/rope.js";
import { swiglu } from "../../tensor/ops/swiglu.js";
import type { Qkv, QkvShape } from "../../tensor/plain.js";
import type { tf } from "../../tensor/tf.js";
import type { ModelConfig } from "../config.js";
import type { Lora } from "./lora.js";
import type { RotaryTable } from "./rope.js";
import { sharedAttention } from "./sharing.js";
import type { Sharing } from "./token-batch.js";

/** A layer's weights by the part of their name after `model.layers.N.`. */
export type LayerWeights = Record<string, tf.Tensor>;

/** Each layer's weights, adapters included, by the part of their names behind `model.layers.N.`. */
export function layerParts(
  layers: number,
  weights: ReadonlyMap<string, tf.Variable>,
  lora?: Lora,
): LayerWeights[] {
  const all = [...weights, ...(lora?.weights ?? [])];
  return Array.from({ length: layers }, (_, i) => {
    const prefix = `model.layers.${i}.`;
    const own = all.filter(([name]) => name.startsWith(prefix));
    return Object.fromEntries(own.map(([name, weight]) => [name.slice(prefix.length), weight]));
  });
}

/**
 * x W^T + b of some projections of the same x, and scale * x A^T B^T where one has an adapter. Where all
 * have, they are one operation.
 */
function adapted(
  x: tf.Tensor,
  weights: LayerWeights,
  names: readonly string[],
  scale: number,
): tf.Tensor[] {
  const projections = names.map((name) => ({
    weight: weights[`${name}.weight`]!,
    bias: weights[`${name}.bias`],
    a: weights[`${name}.lora_A.weight`],
    b: weights[`${name}.lora_B.weight`],
  }));
  const whole = (given: (typeof projections)[number]): given is typeof given & Adapted =>
    given.a !== undefined && given.b !== undefined;
  const adaptedOnes = projections.filter(whole);
  if (adaptedOnes.length === projections.length) return adaptedLinear(x, adaptedOnes, scale);
  return projections.map((given) =>
    whole(given) ? adaptedLinear(x, [given], scale)[0]! : frozenLinear(x, given.weight, given.bias),
  );
}

/** As the tensor module's `qkv`, with adapters on the projections. */
function adaptedQkv(
  x: tf.Tensor,
  weights: LayerWeights,
  { cos, sin }: RotaryTable,
  { heads, kvHeads, headDim, epsilon }: QkvShape,
  scale: number,
): Qkv {
  const [batch, time] = x.shape as [number, number];
  const letters = ["q", "k", "v"] as const;
  const names = letters.map((letter) => `self_attn.${letter}_proj`);
  const [q, k, v] = adapted(x, weights, names, scale).map((all, i) => {
    const split: tf.Tensor = all.reshape([batch, time, i === 0 ? heads : kvHeads, headDim]);
    const norm = weights[`self_attn.${letters[i]}_norm.weight`];
    return norm ? rmsNorm(split, norm, epsilon) : split;
  }) as [tf.Tensor, tf.Tensor, tf.Tensor];
  return { q: rope(q, cos, sin), k: rope(k, cos, sin), v };
}

/**
 * One layer of a decoder transformer over x [rows, time, hiddenSize]. First attention: every position
 * gathers from the positions before it. Then feed-forward: every position by itself. Each works on a
 * normalised copy and adds what it found to the stream. With `loraScale` the matrices are not trained but
 * the adapters that are among the weights.
 */
export function decoderLayer(
  x: tf.Tensor,
  weights: LayerWeights,
  rotary: RotaryTable,
  lengths: tf.Tensor | undefined,
  config: ModelConfig,
  sharing?: Pick<Sharing, "unfold" | "fold">,
  loraScale?: number,
): tf.Tensor {
  const { heads, kvHeads, headDim, normEpsilon: epsilon } = config;
  const w = (name: string) => weights[`${name}.weight`]!;

  const project = (given: tf.Tensor, ...names: string[]): tf.Tensor[] =>
    loraScale === undefined
      ? names.map((name) => linear(given, w(name)))
      : adapted(given, weights, names, loraScale);

  const given = rmsNorm(x, w("input_layernorm"), epsilon);
  const shape = { heads, kvHeads, headDim, epsilon };
  const { q, k, v } =
    loraScale === undefined
      ? qkv(
          given,
          {
            wq: w("self_attn.q_proj"),
            wk: w("self_attn.k_proj"),
            wv: w("self_attn.v_proj"),
            bq: weights["self_attn.q_proj.bias"],
            bk: weights["self_attn.k_proj.bias"],
            bv: weights["self_attn.v_proj.bias"],
            qNorm: weights["self_attn.q_norm.weight"],
            kNorm: weights["self_attn.k_norm.weight"],
          },
          rotary.cos,
          rotary.sin,
          shape,
        )
      : adaptedQkv(given, weights, rotary, shape, loraScale);
  const seen = sharing
    ? sharedAttention({ q, k, v }, lengths, sharing)
    : causalAttention(q, k, v, lengths);
  const [attended] = project(seen, "self_attn.o_proj");
  const middle: tf.Tensor = x.add(attended!);

  const normed = rmsNorm(middle, w("post_attention_layernorm"), epsilon);
  const [gate, up] = project(normed, "mlp.gate_proj", "mlp.up_proj");
  const [found] = project(swiglu(gate!, up!), "mlp.down_proj");
  return middle.add(found!);
}
