import { checkArguments, shown } from "../../common/options/check-arguments.js";
import { saveModel } from "../model/files/save-model.js";
import {
  checkOptions,
  integer,
  oneOf,
  type OptionRules,
  positive,
} from "../../common/options/check-options.js";
import {
  type CacheType,
  cacheTypes,
  type DecoderType,
  decoderTypes,
} from "../model/decoder/weights.js";
import { fetchWeights } from "../model/decoder/of-model.js";
import { HfTokenizer } from "../model/tokenizer/hf-tokenizer.js";
import { loadDecoder } from "../model/load/load-decoder.js";
import { loadModel } from "../model/load/load-model.js";
import { modelFolder, modelName } from "../model/files/model-folder.js";
import { makeDecoder } from "../model/decoder/make-decoder.js";
import type { Model } from "../model/transformer/transformer.js";
import type { Tokenizer } from "../model/tokenizer/tokenizer.js";
import { ready } from "../tensor/backends.js";
import { tf } from "../tensor/tf.js";
import type { Sampler, SequenceLogProbs, SequenceToScore } from "./policy.js";
import { LocalPolicy } from "./local-policy.js";

/** How a policy is made of a model. */
export interface PolicyOptions {
  /** Shown in figures and kept in run folders. Default: the folder's or the file's name. */
  name?: string;
  /** The longest sequence. Default: the model's own limit. */
  contextLength?: number;
  /** How many of the most likely alternatives a segment reports per token. Default: 10. */
  top?: number;
}

/** How a policy is made of a model in memory. */
export interface ModelPolicyOptions extends PolicyOptions {
  /**
   * How weights are kept for sampling; the model itself stays as it is and can be trained. Rounded
   * ones are another policy than the one that trains, and an update corrects for that. Default:
   * `"float32"`, the model.
   */
  dtype?: DecoderType;
  /** How keys and values are kept: `"float16"` takes half the memory, and rounds. Default: `"float32"`. */
  cache?: CacheType;
}

function checkEnds(tokenizer: Tokenizer, vocabSize: number): void {
  if (tokenizer.eosIds.some((id) => id >= vocabSize)) {
    throw new RangeError(
      `Cannot make a policy: the tokenizer's end tokens must be below the model's vocabulary of ${vocabSize}, got ${tokenizer.eosIds.join(", ")}`,
    );
  }
}

/** How a policy is loaded. */
interface LoadPolicyOptions extends PolicyOptions {
  /**
   * How the weights are kept: `"float32"` (the default) gives a policy that can be trained;
   * `"bfloat16"` (2 bytes a weight), `"int8"` (1 byte) and `"q4"` (blocks of 32 numbers of 4 bits) one
   * that only decodes, without a model in memory beside it; so do `"w8a8"` and `"w4a8"`, blocks of 8 and of 4
   * bits that are multiplied with activations in 8 bits, the fastest, and `"w16a16"`, weights and activations in bfloat16.
   */
  dtype?: DecoderType;
  /** How keys and values are kept: `"float16"` takes half the memory, and rounds. Default: `"float32"`. */
  cache?: CacheType;
}

const rules: OptionRules<LoadPolicyOptions & ModelPolicyOptions> = {
  name: "text?",
  contextLength: integer(1),
  top: integer(0),
  dtype: oneOf(decoderTypes),
  cache: oneOf(cacheTypes),
};

/** One sequence through the model; only what predicts a token behind the prompt gets logits. */
async function readAgain(
  model: Model,
  { prompt, tokens }: SequenceToScore,
  options: { temperature?: number },
): Promise<SequenceLogProbs> {
  if (tokens.length === 0) {
    return { logprobs: new Float32Array(0), entropies: new Float32Array(0) };
  }
  const sequence = [...Array.from(prompt), ...Array.from(tokens)];
  const [logprobs, entropies] = tf.tidy(() => {
    const after = Array.from(tokens, (_, t) => prompt.length + t - 1);
    const told = model.logProbsAt(
      model.batch([sequence]),
      tf.tensor1d(after, "int32"),
      tf.tensor1d(Array.from(tokens), "int32"),
      options,
    );
    return [told.logprobs, told.entropies];
  });
  const data = await Promise.all([logprobs!.data(), entropies!.data()]);
  tf.dispose([logprobs!, entropies!]);
  return { logprobs: data[0] as Float32Array, entropies: data[1] as Float32Array };
}

/** A policy that decodes with a model it also gives access to, so that training can change it. */
export class ModelPolicy extends LocalPolicy {
  readonly model: Model;

  /**
   * @param model the model to sample from; it may be trained on
   * @param tokenizer the model's tokenizer
   */
  constructor(model: Model, tokenizer: Tokenizer, options: ModelPolicyOptions = {}) {
    checkArguments(
      "make a policy",
      { model, tokenizer },
      { model: "model", tokenizer: "tokenizer" },
    );
    checkOptions("make a policy", options, rules);
    checkEnds(tokenizer, model.config.vocabSize);
    const { dtype, cache, ...own } = options;
    super({
      ...own,
      name: options.name ?? "model",
      tokenizer,
      decoder: makeDecoder(model, { dtype, cache }),
      weightsVersion: () => model.version,
    });
    this.model = model;
  }

  override get sampler(): Sampler | undefined {
    return super.sampler ?? (this.model.matmulPrecision === "float32" ? undefined : "float32");
  }

  [Symbol.for("nodejs.util.inspect.custom")](): string {
    return `Policy (${this.name}, context ${this.contextLength}) of ${this.model}`;
  }

  /** How many updates the model has been through. */
  get version(): number {
    return this.model.updates;
  }

  /**
   * ln p and entropy of each token behind the prompts under the weights of now, whoever wrote them; at
   * temperature 1 unless said otherwise.
   * @param sequences prompts with the tokens to score
   */
  async logProbs(
    sequences: readonly SequenceToScore[],
    options: {
      /** Logits are divided by it first. Default: 1. */
      temperature?: number;
    } = {},
  ): Promise<SequenceLogProbs[]> {
    checkArguments("read sequences", { rows: sequences }, { rows: "list" });
    checkOptions("read sequences", options, { temperature: positive });
    const found: SequenceLogProbs[] = [];
    for (const sequence of sequences) found.push(await readAgain(this.model, sequence, options));
    return found;
  }

  /**
   * Writes the model and its tokenizer where `Policy.load` reads them: a Hugging Face folder or, where the
   * path ends in `.gguf`, one file for llama.cpp and Ollama.
   * @param path a folder, or a file that ends in `.gguf`
   */
  async save(path: string): Promise<void> {
    checkArguments("save a policy", { path }, { path: "path" });
    const { tokenizer, model } = this;
    if (!(tokenizer instanceof HfTokenizer)) {
      throw new TypeError(
        `Cannot save a policy: its tokenizer must be an HfTokenizer, which has files, got ${shown(tokenizer)}`,
      );
    }
    if (path.endsWith(".gguf")) {
      const { saveGguf } = await import("../model/export/save-gguf.js");
      return saveGguf(model, tokenizer, path);
    }
    await saveModel(model, path, { dtype: model.lora ? "float32" : model.weightPrecision });
    await tokenizer.save(path);
  }

  /** Gives the memory of the decoder and of the model back. */
  override dispose(): void {
    super.dispose();
    this.model.dispose();
  }
}

/**
 * A policy from a Hugging Face folder or a `.gguf` file: config, weights, tokenizer.
 * @param folder a Hugging Face folder or a `.gguf` file
 */
export async function loadPolicy(
  folder: string,
  options?: LoadPolicyOptions & {
    /** Default: `float32`, a policy that can be trained. */
    dtype?: "float32";
  },
): Promise<ModelPolicy>;
/** @param folder a Hugging Face folder or a `.gguf` file */
export async function loadPolicy(folder: string, options?: LoadPolicyOptions): Promise<LocalPolicy>;
export async function loadPolicy(
  path: string,
  loading: LoadPolicyOptions = {},
): Promise<LocalPolicy> {
  checkArguments("load a policy", { path }, { path: "path" });
  checkOptions("load a policy", loading, rules);
  const { dtype = "float32", cache, ...options } = loading;
  await ready();
  const folder = modelFolder(path);
  const { name = modelName(folder) } = options;
  const tokenizer = await HfTokenizer.load(folder);
  if (dtype !== "float32") {
    const { decoder } = await loadDecoder(folder, { dtype, cache });
    try {
      checkEnds(tokenizer, decoder.vocabSize);
      return new LocalPolicy({ ...options, name, tokenizer, decoder });
    } catch (error) {
      decoder.dispose();
      throw error;
    }
  }
  const model = await loadModel(folder);
  try {
    await fetchWeights(model);
    return new ModelPolicy(model, tokenizer, { ...options, name, cache });
  } catch (error) {
    model.dispose();
    throw error;
  }
}
