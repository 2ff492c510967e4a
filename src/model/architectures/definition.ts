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
  readonly gguf?: GgufForm;
}

/** Keeps the name's own type, by which configurations know it. */
export const defineArchitecture = <const Name extends string>(
  architecture: Architecture<Name>,
): Architecture<Name> => architecture;
