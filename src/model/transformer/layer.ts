import { causalAttention } from "../../tensor/ops/causal-attention.js";
import { linear } from "../../tensor/ops/linear.js";
import { qkv } from "../../tensor/ops/qkv.js";
import { rmsNorm } from "../../tensor/ops/rms-norm.js";
import { swiglu } from "../../tensor/ops/swiglu.js";
import type { tf } from "../../tensor/tf.js";
import type { ModelConfig } from "../config.js";
import type { LayerWeights } from "./layer-parts.js";
import { adapted, adaptedQkv } from "./lora-layer.js";
import type { RotaryTable } from "./rope.js";
import { sharedAttention } from "./sharing.js";
import type { Sharing } from "./token-batch.js";

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
            bq: weights["self_attn.q_proj.bias"], // Qwen2
            bk: weights["self_attn.k_proj.bias"],
            bv: weights["self_attn.v_proj.bias"],
            qNorm: weights["self_attn.q_norm.weight"], // Qwen3
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
