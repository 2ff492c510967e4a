import type { ConfigKeys } from "../config-keys.js";

/** What a model ends in: next-token logits, or one value per token (a critic). */
export type ModelHead = "logits" | "value";

/** What every layer of a model does otherwise than most. */
export interface LayerArithmetic {
  /** The feed-forward block's activation: GELU in its tanh form. Default: SiLU. */
  activation?: "gelu_tanh";
  /** Norms multiply by the weight and this. Default: 0. */
  normOffset?: 1;
  /** What attention and the feed-forward block find is normed before it is added. */
  foundNorms?: boolean;
  /** Embeddings are multiplied by the square root of the width. */
  scaledEmbedding?: boolean;
  /** Each query comes with a gate of its width, whose sigmoid multiplies what attention found for it. */
  gatedAttention?: boolean;
}

/** Layers with linear attention in place of attention: a gated delta rule behind a short causal convolution. */
export interface LinearLayers {
  /** Which layers have it, a truth value for each. */
  layers: readonly boolean[];
  /** Heads of queries and keys; each serves `valueHeads / keyHeads` heads of values. */
  keyHeads: number;
  valueHeads: number;
  /** Numbers of a query and of a key. */
  keyDim: number;
  /** Numbers of a value. */
  valueDim: number;
  /** How many positions the convolution sees, its own included. */
  taps: number;
}

/** What tells a model's layers from one another. */
export interface LayerKinds {
  /** How many positions a layer with a window sees, its own included. */
  window?: number;
  /** Which layers have the window, a truth value for each. Default: none. */
  windowed?: readonly boolean[];
  /** The rotary base of layers with the window, which nothing stretches. Default: that of all. */
  windowRopeTheta?: number;
  /** Which layers turn queries and keys by position, a truth value for each. Default: all. */
  rotated?: readonly boolean[];
  /** Scores are divided by its square root. Default: the head's width. */
  queryScalar?: number;
  /** How many numbers of a head are turned by position, the first ones. Default: all. */
  rotaryDim?: number;
  /** Which layers have linear attention, and its sizes. Default: none. */
  linear?: LinearLayers;
}

/** What a definition may ask about the model whose keys it reads. */
export interface LayerSizes {
  layers: number;
  contextLength: number;
  headDim: number;
}

/** How llama.cpp has an architecture, where that is not as most are. */
export interface GgufForm {
  /** Modules of a layer that are called otherwise there, by Hugging Face's names. */
  readonly modules?: Readonly<Record<string, string>>;
  /** Which biases it reads. Default: those of queries, keys and values. */
  readonly biases?: "all" | "none";
  /** Reads what its keys say of the layers; `own` gives a number below the architecture's name. */
  read?(own: (key: string) => number | undefined, sizes: LayerSizes): LayerKinds;
  /** Keys that say it; undefined where llama.cpp computes something else whatever they say. */
  write?(kinds: LayerKinds, sizes: LayerSizes): Record<string, number> | undefined;
}

/** A model whose layers are these and that has more than text around them, as config.json has it. */
export interface Around {
  /** The class that config.json names. */
  readonly class: string;
  /** The key that has the text's part. */
  readonly key: string;
  /** What the names of the text's weights begin with, in place of `model.`. */
  readonly prefix: string;
}

/** A kind of model: what files call it, and what its layers do otherwise than others'. */
export interface Architecture<Name extends string = string> {
  /** As `model_type` of config.json and `general.architecture` of a GGUF file say it. */
  readonly name: Name;
  /** `model_type` of config.json where it is not the name. */
  readonly modelType?: string;
  /** Models that are of it. */
  readonly words: string;
  /** The class that config.json names for each head. */
  readonly classes: Readonly<Record<ModelHead, string>>;
  /** What is around models of it in published folders; their text alone is read. */
  readonly around?: Around;
  /** Weights that are left out of what is read: of pictures, or of a second head. */
  readonly leftOut?: RegExp;
  /** Biases on the query, key and value projections. */
  readonly qkvBias: boolean;
  /** RMSNorm on each head's queries and keys. */
  readonly qkNorm: boolean;
  /** What all its models compute otherwise. */
  readonly arithmetic?: LayerArithmetic;
  /** A head's width where config.json does not say it. Default: the width shared out over the heads. */
  readonly headDim?: number;
  /** The rotary base where config.json does not say it. Default: 10,000. */
  readonly ropeTheta?: number;
  /** Whether the output matrix is the embedding matrix where config.json does not say it. Default: false. */
  readonly tied?: boolean;
  /** The key of config.json that names the activation. Default: `hidden_act`. */
  readonly activationKey?: string;
  /** Keys of config.json that transformers wants to read of it, and that say nothing else of any of its models. */
  readonly keys: Readonly<Record<string, unknown>>;
  /** What config.json says of the layers. Default: `use_sliding_window` and its like. */
  readLayers?(keys: ConfigKeys, sizes: LayerSizes): LayerKinds;
  /** The keys that `readLayers` reads. */
  writeLayers?(kinds: LayerKinds, sizes: LayerSizes): Record<string, unknown>;
  /**
   * In GGUF files rows of the query and key projections stand in another order: llama.cpp turns adjacent numbers,
   * Hugging Face those that lie half a head apart.
   */
  readonly pairsRows: boolean;
  /** False where its GGUF files are neither read nor written. */
  readonly gguf?: GgufForm | false;
}

/** Keeps the name's own type, by which configurations know it. */
export const defineArchitecture = <const Name extends string>(
  architecture: Architecture<Name>,
): Architecture<Name> => architecture;
