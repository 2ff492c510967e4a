import { basename } from "node:path";
import { HfTokenizer, loadModel, makeDecoder, type Model, type Tokenizer } from "../model/index.js";
import { ready } from "../tensor/index.js";
import { LocalPolicy } from "./local-policy.js";

/** How a policy is made of a model. */
export interface PolicyOptions {
  /** Shown in figures and kept in run folders. Default: the folder's name. */
  name?: string;
  /** The longest row. Default: the model's own limit. */
  contextLength?: number;
  /** How many of the most likely alternatives a segment reports per token. Default: 10. */
  top?: number;
}

/** A policy that decodes with a model it also gives access to, so that training can change it. */
export class ModelPolicy extends LocalPolicy {
  readonly model: Model;

  constructor(model: Model, tokenizer: Tokenizer, options: PolicyOptions = {}) {
    if (tokenizer.eosIds.some((id) => id >= model.config.vocabSize)) {
      throw new RangeError(
        `Cannot make a policy: the tokenizer's end tokens must be below the model's vocabulary of ${model.config.vocabSize}, got ${tokenizer.eosIds.join(", ")}`,
      );
    }
    super({
      ...options,
      name: options.name ?? "model",
      tokenizer,
      decoder: makeDecoder(model),
      weightsVersion: () => model.version,
    });
    this.model = model;
  }

  /** Gives the memory of the decoder and of the model back. */
  override dispose(): void {
    super.dispose();
    this.model.dispose();
  }
}

/** A policy from a Hugging Face folder: config, weights, tokenizer. */
export async function loadPolicy(
  folder: string,
  options: PolicyOptions = {},
): Promise<ModelPolicy> {
  await ready();
  const tokenizer = await HfTokenizer.load(folder);
  const model = await loadModel(folder);
  try {
    return new ModelPolicy(model, tokenizer, { name: basename(folder), ...options });
  } catch (error) {
    model.dispose();
    throw error;
  }
}
