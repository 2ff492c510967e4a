/** What a model ends in: next-token logits, or one value per token (a critic). */
export type ModelHead = "logits" | "value";

/** A kind of model: what files call it, and what its layers do otherwise than others'. */
export interface Architecture<Name extends string = string> {
  /** As `model_type` of config.json and `general.architecture` of a GGUF file say it. */
  readonly name: Name;
  /** Models that are of it. */
  readonly words: string;
  /** The class that config.json names for each head. */
  readonly classes: Readonly<Record<ModelHead, string>>;
  /** Biases on the query, key and value projections. */
  readonly qkvBias: boolean;
  /** RMSNorm on each head's queries and keys. */
  readonly qkNorm: boolean;
  /** A head's width where config.json does not say it. Default: the width shared out over the heads. */
  readonly headDim?: number;
  /** Keys of config.json that transformers wants to read of it, and that say nothing else of any of its models. */
  readonly keys: Readonly<Record<string, unknown>>;
  /**
   * In GGUF files rows of the query and key projections stand in another order: llama.cpp turns adjacent numbers,
   * Hugging Face those that lie half a head apart.
   */
  readonly pairsRows: boolean;
}

/** Keeps the name's own type, by which configurations know it. */
export const defineArchitecture = <const Name extends string>(
  architecture: Architecture<Name>,
): Architecture<Name> => architecture;
