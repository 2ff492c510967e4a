import { type Adapted, adaptedLinear, frozenLinear, linear } from "../../tensor/ops/linear.js";
import { causalAttention } from "../../tensor/ops/causal-attention.js";
import { sharedAttention } from "../../tensor/ops/shared-attention.js";
import { qkv } from "../../tensor/ops/qkv.js";
import { rmsNorm } from "../../tensor/ops/rms-norm.js";
import { rope } from "../../tensor/ops/rope.js";
import { geglu, swiglu } from "../../tensor/ops/swiglu.js";
import type { Qkv, QkvShape } from "../../tensor/plain.js";
import type { tf } from "../../tensor/tf.js";
import type { ModelConfig } from "../config.js";
import { gatedQkv } from "./gated-attention.js";
import { linearAttention } from "./linear-attention.js";
import type { Lora } from "./lora.js";
import type { RotaryTable } from "./rope.js";
import type { Sharing } from "./token-batch.js";
import type { LayerWeights, Project } from "./weights.js";

/** What a norm multiplies by. */
export const normScale = (weight: tf.Tensor, { normOffset }: ModelConfig): tf.Tensor =>
  normOffset === undefined ? weight : weight.add(normOffset);

/** What queries are multiplied by, so that scores divided by the root of a head's width are those of the model. */
export const queryScale = ({ headDim, queryScalar = headDim }: ModelConfig): number =>
  Math.sqrt(headDim / queryScalar);

function scoreScaled(weight: tf.Tensor, config: ModelConfig): tf.Tensor {
  const scale = queryScale(config);
  return scale === 1 ? weight : weight.mul(scale);
}

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
  headNorm: (letter: "q" | "k") => tf.Tensor | undefined,
): Qkv {
  const [batch, time] = x.shape as [number, number];
  const letters = ["q", "k", "v"] as const;
  const names = letters.map((letter) => `self_attn.${letter}_proj`);
  const [q, k, v] = adapted(x, weights, names, scale).map((all, i) => {
    const split: tf.Tensor = all.reshape([batch, time, i === 0 ? heads : kvHeads, headDim]);
    const norm = letters[i] === "v" ? undefined : headNorm(letters[i]!);
    return norm ? rmsNorm(split, norm, epsilon) : split;
  }) as [tf.Tensor, tf.Tensor, tf.Tensor];
  return { q: rope(q, cos, sin), k: rope(k, cos, sin), v };
}

/** What one layer works with beside its weights. */
export interface LayerGiven {
  rotary: RotaryTable;
  lengths: tf.Tensor | undefined;
  /** How many positions it sees; all before it where it is left out. */
  window: number | undefined;
  sharing: Pick<Sharing, "unfold" | "fold"> | undefined;
  /** The adapters' scale where they are trained and the matrices are not. */
  loraScale: number | undefined;
}

/** What attention finds at each position of a normalised x, before it is added. */
function attention(
  given: tf.Tensor,
  weights: LayerWeights,
  { rotary, lengths, window, sharing, loraScale }: LayerGiven,
  config: ModelConfig,
  project: Project,
): tf.Tensor {
  const { heads, kvHeads, headDim, normEpsilon: epsilon } = config;
  const w = (name: string) => weights[`${name}.weight`]!;
  const headNorm = (letter: "q" | "k") => {
    const weight = weights[`self_attn.${letter}_norm.weight`];
    const scale = weight && normScale(weight, config);
    return letter === "q" ? scale && scoreScaled(scale, config) : scale;
  };
  const apart = config.gatedAttention || config.rotaryDim !== undefined;
  const gated = apart ? gatedQkv(given, project, rotary, config, headNorm) : undefined;
  const shape = { heads, kvHeads, headDim, epsilon };
  const { q, k, v } =
    gated ??
    (loraScale === undefined
      ? qkv(
          given,
          {
            wq: w("self_attn.q_proj"),
            wk: w("self_attn.k_proj"),
            wv: w("self_attn.v_proj"),
            bq: weights["self_attn.q_proj.bias"],
            bk: weights["self_attn.k_proj.bias"],
            bv: weights["self_attn.v_proj.bias"],
            qNorm: headNorm("q"),
            kNorm: headNorm("k"),
          },
          rotary.cos,
          rotary.sin,
          shape,
        )
      : adaptedQkv(given, weights, rotary, shape, loraScale, headNorm));
  const seen = sharing
    ? sharedAttention({ q, k, v }, lengths!, sharing, window)
    : causalAttention(q, k, v, lengths, window);
  const open = gated?.gate ? seen.mul(gated.gate.sigmoid()) : seen;
  return project(open, "self_attn.o_proj")[0]!;
}

/**
 * One layer of a decoder transformer over x [rows, time, hiddenSize]. First attention, or linear attention where the
 * layer has it: every position gathers from the positions before it. Then feed-forward: every position by itself. Each works on a
 * normalised copy and adds what it found to the stream. With `loraScale` the matrices are not trained but
 * the adapters that are among the weights.
 */
export function decoderLayer(
  x: tf.Tensor,
  weights: LayerWeights,
  layer: LayerGiven,
  config: ModelConfig,
): tf.Tensor {
  const { linear: sizes, normEpsilon } = config;
  const { loraScale, sharing } = layer;
  const w = (name: string) => weights[`${name}.weight`]!;

  const project = (given: tf.Tensor, ...names: string[]): tf.Tensor[] =>
    loraScale === undefined
      ? names.map((name) => linear(given, w(name), weights[`${name}.bias`]))
      : adapted(given, weights, names, loraScale);

  const norm = (given: tf.Tensor, name: string) =>
    rmsNorm(given, normScale(w(name), config), normEpsilon);
  const found = (given: tf.Tensor, name: string) => (config.foundNorms ? norm(given, name) : given);

  const given = norm(x, "input_layernorm");
  const attended =
    sizes && "linear_attn.out_proj.weight" in weights
      ? linearAttention(given, weights, project, sharing, { linear: sizes, normEpsilon })
      : attention(given, weights, layer, config, project);
  const middle: tf.Tensor = x.add(found(attended, "post_attention_layernorm"));

  const before = config.foundNorms ? "pre_feedforward_layernorm" : "post_attention_layernorm";
  const [gate, up] = project(norm(middle, before), "mlp.gate_proj", "mlp.up_proj");
  const gated = config.activation === "gelu_tanh" ? geglu(gate!, up!) : swiglu(gate!, up!);
  const [fed] = project(gated, "mlp.down_proj");
  return middle.add(found(fed!, "post_feedforward_layernorm"));
}
