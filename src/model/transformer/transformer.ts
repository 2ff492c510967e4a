// A decoder transformer as Qwen, Llama, SmolLM3 and Gemma 3 have it: tokens become vectors, each layer lets
// every position look at those before it (attention) and then think on its own (feed-forward), and
// the last vectors give the next token's probabilities, or a value. Dropout is left out: reinforcement
// learning does without. Decoding with a key-value cache is elsewhere (decoder.ts).
import { checkArguments } from "../../../common/options/check-arguments.js";
import { checkOptions, type OptionRules, positive } from "../../../common/options/check-options.js";
import { embed } from "../../tensor/ops/embed.js";
import { inMatmulPrecision, type MatmulPrecision } from "../../tensor/matmul-precision.js";
import { linear } from "../../tensor/ops/linear.js";
import {
  type LabelSupport,
  logitsFrom,
  logProbEntropyFromHidden,
  overSupports,
} from "../../tensor/ops/log-prob-entropy-from-hidden.js";
import { rmsNorm } from "../../tensor/ops/rms-norm.js";
import { tf } from "../../tensor/tf.js";
import { recompute } from "./recompute.js";
import { modelConfig, type ModelConfig, type ModelConfigInput } from "../config.js";
import { decoderLayer, layerParts, normScale } from "./layer.js";
import type { GenerationConfig } from "../generation-config.js";
import { initialValues } from "./init-weights.js";
import type { Lora } from "./lora.js";
import { rotaries, rotaryTable, type RotaryTable } from "./rope.js";
import { batchTokens, type PaddedBatch, type TokenBatch } from "./token-batch.js";
import { type LayerWeights, type WeightPrecision, weightShapes, shapeSize } from "./weights.js";

/** How a forward pass is run; the result is the same. */
interface ForwardOptions {
  /**
   * Compute each layer again for its gradient instead of remembering its insides. Default: false.
   */
  checkpointing?: boolean;
}

/** How log-probabilities are computed. */
interface LogProbOptions extends ForwardOptions {
  /** Logits are divided by it first. Default: 1. */
  temperature?: number;
}

const forwardRules: OptionRules<ForwardOptions> = { checkpointing: "boolean?" };
const logProbRules: OptionRules<LogProbOptions> = {
  ...forwardRules,
  temperature: positive,
};

/** A trainable tensor over the given values. tfjs names it: names are global there. */
function variable(values: Float32Array, shape: number[]): tf.Variable {
  const tensor = tf.tensor(values, shape, "float32");
  const made = tf.variable(tensor);
  tensor.dispose();
  return made;
}

/**
 * A model: its configuration, its weights under their Hugging Face names, and what they compute.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { Model } from "arpo-lab/model";
 *
 * const model = Model.init(
 *   { vocabSize: 50, hiddenSize: 16, intermediateSize: 32, layers: 2, heads: 4, kvHeads: 2 },
 *   7,
 * );
 * const batch = model.batch([[1, 2, 3], [4, 5]]);
 * const hidden = model.forward(batch);
 * assert.deepEqual(hidden.shape, [2, 3, 16]);
 * assert.deepEqual(model.logits(hidden).shape, [2, 3, 50]);
 * model.dispose();
 * ```
 */
export class Model {
  /** Precision of the weights between training steps, as `setWeightPrecision` set it. */
  weightPrecision: WeightPrecision = "float32";
  /**
   * Precision of the large matrix products of training and of log-probabilities. `"bfloat16"` rounds their factors
   * and adds in single precision, on the native and the wasm backend; decoders have a `dtype` of their own.
   */
  matmulPrecision: MatmulPrecision = "float32";
  /** Updates by reinforcement learning that its weights have been through, counted by who makes them. */
  updates = 0;
  #version = 0;
  /** Of each way that layers turn queries and keys. */
  #rotary: RotaryTable[] = [];
  #ownsWeights = true;
  #layers: LayerWeights[];
  #lora: Lora | undefined;
  #fetched: ReadonlyMap<string, Float32Array> | undefined;

  /**
   * Takes over the weights: `dispose` frees them.
   * @param config the model's shape
   * @param weights the weights, by their Hugging Face names
   * @param generation default sampling settings and end tokens
   */
  constructor(
    readonly config: ModelConfig,
    readonly weights: ReadonlyMap<string, tf.Variable>,
    readonly generation: GenerationConfig = { eosIds: config?.eosIds },
  ) {
    checkArguments(
      "make a model",
      { config, weights },
      { config: { layers: "number", eosIds: "list" }, weights: "items" },
    );
    this.#layers = layerParts(config.layers, weights);
  }

  /**
   * A model with random weights that depend on the seed alone.
   * @param input the model's shape
   * @param seed the seed of the weights
   */
  static init(input: ModelConfigInput, seed: number): Model {
    const config = modelConfig(input);
    const made = new Map<string, tf.Variable>();
    for (const [name, shape] of weightShapes(config)) {
      const values = initialValues(name, shapeSize(shape), seed, config);
      made.set(name, variable(values, shape));
    }
    return new Model(config, made);
  }

  /**
   * A model with the values that `read` gives, which are used as they are, not copied.
   * @param config the model's shape
   * @param read returns the values of a weight by its name and shape
   * @param generation default sampling settings and end tokens
   */
  static async build(
    config: ModelConfig,
    read: (name: string, shape: readonly number[]) => Promise<Float32Array>,
    generation?: GenerationConfig,
  ): Promise<Model> {
    const made = new Map<string, tf.Variable>();
    try {
      for (const [name, shape] of weightShapes(config)) {
        made.set(name, variable(await read(name, shape), shape));
      }
    } catch (error) {
      for (const weight of made.values()) weight.dispose();
      throw error;
    }
    return new Model(config, made, generation);
  }

  /** How many numbers the model consists of. */
  get size(): number {
    return [...this.weights.values()].reduce((sum, weight) => sum + weight.size, 0);
  }

  /** Grows whenever the weights change, so that a decoder knows when to read them again. */
  get version(): number {
    return this.#version;
  }

  /** To be called by whoever changed the weights. */
  changed(): void {
    this.#version++;
    this.#fetched = undefined;
  }

  /** @internal The weights of now in main memory, where they are on a GPU and `fetchWeights` was asked. */
  get fetched(): ReadonlyMap<string, Float32Array> | undefined {
    return this.#fetched;
  }

  /** @internal Keeps weights as they were at a version, unless they have changed since. */
  keepFetched(version: number, weights: ReadonlyMap<string, Float32Array>): void {
    if (version === this.#version) this.#fetched = weights;
  }

  /** The adapters, where `addLora` or `loadAdapter` gave the model some. */
  get lora(): Lora | undefined {
    return this.#lora;
  }

  /** What training changes: the adapters where there are some, else every weight. */
  get trainable(): ReadonlyMap<string, tf.Variable> {
    if (this.#lora?.merged) {
      throw new TypeError("Cannot train: adapters must not be merged, got merged ones");
    }
    return this.#lora?.weights ?? this.weights;
  }

  /** @internal Takes over adapters; `addLora` is the way to call this. */
  adopt(lora: Lora): void {
    if (this.#lora) {
      throw new TypeError(
        `Cannot add LoRA: the model must not have adapters yet, got some of rank ${this.#lora.rank}`,
      );
    }
    this.#lora = lora;
    this.#layers = layerParts(this.config.layers, this.weights, lora);
    this.changed();
  }

  /** @internal Adds adapters to the weights or takes them out again. */
  mergeLora(merge: boolean): void {
    const lora = this.#lora;
    if (!lora || lora.merged === merge) {
      const state = lora ? (merge ? "merged ones" : "ones that are not") : "none";
      throw new TypeError(
        `Cannot ${merge ? "merge" : "unmerge"} LoRA: the model must have ${merge ? "unmerged" : "merged"} adapters, got ${state}`,
      );
    }
    for (const [name, weight] of this.weights) {
      tf.tidy(() => {
        const changed = lora.apply(name, weight, merge ? 1 : -1);
        if (changed) weight.assign(changed);
      });
    }
    lora.merged = merge;
    this.#layers = layerParts(this.config.layers, this.weights, merge ? undefined : lora);
    this.changed();
  }

  /**
   * What a weight acts with: itself, or a new tensor where an adapter adds to it.
   * @param name the name of the weight
   */
  acting(name: string): tf.Tensor | undefined {
    const weight = this.weights.get(name);
    if (!weight || !this.#lora || this.#lora.merged) return weight;
    return this.#lora.apply(name, weight) ?? weight;
  }

  /**
   * A second model with the same weights in memory of its own: a reference policy, for example. What
   * adapters add is part of its weights.
   */
  copy(): Model {
    const copies = new Map<string, tf.Variable>();
    for (const name of this.weights.keys()) {
      copies.set(
        name,
        tf.tidy(() => tf.variable(this.acting(name)!.mul(1), true)),
      );
    }
    const copy = new Model(this.config, copies, this.generation);
    copy.matmulPrecision = this.matmulPrecision;
    copy.updates = this.updates;
    return copy;
  }

  /**
   * Takes over the weights of a model of the same configuration.
   * @param source a model with the same configuration
   */
  copyFrom(source: Model): void {
    if (this.#lora) {
      throw new TypeError("Cannot copy weights: the model must not have adapters, got some");
    }
    for (const [name, weight] of this.weights) {
      const other = source.weights.get(name);
      if (`${other?.shape}` !== `${weight.shape}`) {
        throw new RangeError(
          `Cannot copy weights: ${name} must have shape [${weight.shape}], got ${other ? `[${other.shape}]` : "none"}`,
        );
      }
    }
    for (const [name, weight] of this.weights) {
      tf.tidy(() => weight.assign(source.acting(name)!.mul(1)));
    }
    this.changed();
  }

  /**
   * Pads sequences of token ids into one batch, after checking that the model can take them.
   * @param rows token ids, one list per sequence
   */
  batch(rows: readonly ArrayLike<number>[]): PaddedBatch {
    return batchTokens(rows, this.config);
  }

  /** The last layer's vectors, normalised: [rows, time, hiddenSize]. */
  forward({ ids, lengths, sharing }: TokenBatch, options: ForwardOptions = {}): tf.Tensor3D {
    checkOptions("run the model", options, forwardRules);
    const time = sharing ? sharing.unfold.shape[1] : ids.shape[1];
    if (time > this.config.contextLength) {
      throw new RangeError(
        `Cannot run the model: a sequence must fit into the context of ${this.config.contextLength} tokens, got ${time}`,
      );
    }
    const tables = this.#positions(time);
    return this.#tidy(() => {
      const turned = tables.map((table) =>
        sharing
          ? {
              cos: tf.gather(table.cos, sharing.positions),
              sin: tf.gather(table.sin, sharing.positions),
            }
          : table,
      );
      const { of } = rotaries(this.config);
      const { windowed, hiddenSize } = this.config;
      let x = embed(this.#weight("model.embed_tokens.weight"), ids);
      if (this.config.scaledEmbedding) x = x.mul(Math.fround(Math.sqrt(hiddenSize)));
      const scale = this.#adapting ? this.#lora!.scale : undefined;
      for (const [i, weights] of this.#layers.entries()) {
        const rotary = turned[of[i]!]!;
        const window = windowed?.[i] ? this.config.window : undefined;
        if (options.checkpointing) {
          const all = Object.keys(weights);
          const names = all.filter((name) => scale === undefined || name.includes(".lora_"));
          const frozen = all.filter((name) => !names.includes(name));
          x = recompute(
            ([given, ...values], [cos, sin, ...rest]) => {
              const kept = rest.splice(rest.length - frozen.length, frozen.length);
              const again = Object.fromEntries([
                ...names.map((name, i) => [name, values[i]!] as const),
                ...frozen.map((name, i) => [name, kept[i]!] as const),
              ]);
              const counts = lengths && rest.shift();
              const [unfold, fold] = rest as [tf.Tensor2D, tf.Tensor1D];
              const shared = sharing && { unfold, fold };
              const own = { rotary: { cos: cos!, sin: sin! }, lengths: counts, sharing: shared };
              return decoderLayer(given!, again, { ...own, window, loraScale: scale }, this.config);
            },
            [x, ...names.map((name) => weights[name]!)],
            [
              rotary.cos,
              rotary.sin,
              ...(lengths ? [lengths] : []),
              ...(sharing ? [sharing.unfold, sharing.fold] : []),
              ...frozen.map((name) => weights[name]!),
            ],
          );
        } else {
          const own = { rotary, lengths, window, sharing, loraScale: scale };
          x = tf.tidy(() => decoderLayer(x, weights, own, this.config));
        }
      }
      const scaleOfNorm = normScale(this.#weight("model.norm.weight"), this.config);
      return rmsNorm(x, scaleOfNorm, this.config.normEpsilon) as tf.Tensor3D;
    });
  }

  /**
   * Unnormalised log-probabilities of every token: [rows, time, vocabSize].
   * @param hidden what `forward` returned
   */
  logits(hidden: tf.Tensor): tf.Tensor {
    return this.#tidy(() => linear(hidden, this.#outputMatrix()));
  }

  /**
   * ln p(label) at each position and the entropy of the whole distribution, both [rows, time]. The
   * label of a position is the token that follows it.
   * @param batch the sequences, from `batch`
   * @param labels the token that follows each position
   */
  logProbs(
    batch: TokenBatch,
    labels: tf.Tensor2D,
    options: LogProbOptions = {},
  ): { logprobs: tf.Tensor2D; entropies: tf.Tensor2D } {
    checkOptions("take log-probabilities", options, logProbRules);
    const { checkpointing, temperature = 1 } = options;
    const { hiddenSize } = this.config;
    const shape = batch.ids.shape;
    if (`${labels.shape}` !== `${shape}`) {
      throw new RangeError(
        `Cannot take log-probabilities: there must be a label for each token [${shape}], got [${labels.shape}]`,
      );
    }
    return this.#tidy(() => {
      const { logprobs, entropies } = logProbEntropyFromHidden(
        this.forward(batch, { checkpointing }).reshape([-1, hiddenSize]),
        this.#outputMatrix(),
        labels.reshape([-1]),
        temperature,
        this.#adapting,
      );
      return { logprobs: logprobs.reshape(shape), entropies: entropies.reshape(shape) };
    });
  }

  /**
   * The same for some tokens alone, counted through the rows or, where rows share what they have in
   * common, through what is shared: ln p and entropy of `labels` [count] behind the tokens `after` [count].
   * @param batch the sequences, from `batch`
   * @param after the token before each one that is scored
   * @param labels the token that follows each of them
   */
  logProbsAt(
    batch: TokenBatch,
    after: tf.Tensor1D,
    labels: tf.Tensor1D,
    options: LogProbOptions & {
      /** Labels with the ids that each was sampled from, none for the whole vocabulary. Default: the whole for all. */
      supports?: readonly LabelSupport[];
    } = {},
  ): { logprobs: tf.Tensor1D; entropies: tf.Tensor1D } {
    const { supports, ...rest } = options;
    checkOptions("take log-probabilities", rest, logProbRules);
    const { checkpointing, temperature = 1 } = rest;
    return this.#tidy(() => {
      const hidden = this.forward(batch, { checkpointing }).reshape([-1, this.config.hiddenSize]);
      const { logprobs, entropies } = logProbEntropyFromHidden(
        embed(hidden, after),
        this.#outputMatrix(),
        labels,
        temperature,
        this.#adapting,
      );
      const all = logprobs.as1D();
      const cut = supports?.some(({ ids }) => ids.length > 0)
        ? overSupports(
            all,
            supports,
            logitsFrom(embed(hidden, after), this.#outputMatrix(), temperature),
          )
        : all;
      return { logprobs: cut, entropies: entropies.as1D() };
    });
  }

  /**
   * ln p of the whole vocabulary behind some tokens, counted as in `logProbsAt`: [count, vocabSize].
   * @param batch the sequences, from `batch`
   * @param after the token before each distribution
   */
  distributionsAt(
    batch: TokenBatch,
    after: tf.Tensor1D,
    options: LogProbOptions = {},
  ): tf.Tensor2D {
    checkOptions("take log-probabilities", options, logProbRules);
    const { checkpointing, temperature = 1 } = options;
    return this.#tidy(() => {
      const hidden = this.forward(batch, { checkpointing }).reshape([-1, this.config.hiddenSize]);
      return tf.logSoftmax(this.logits(embed(hidden, after)).div<tf.Tensor2D>(temperature));
    });
  }

  /**
   * A critic's value of each position: [rows, time].
   * @param batch the sequences, from `batch`
   */
  values(batch: TokenBatch, options: ForwardOptions = {}): tf.Tensor2D {
    if (this.config.head !== "value") {
      throw new TypeError('Cannot give values: the model must have head "value", got "logits"');
    }
    return this.#tidy(() => {
      const hidden = this.forward(batch, options);
      const values = linear(hidden, this.#weight("score.weight"), this.#weight("score.bias"));
      return values.reshape(batch.ids.shape);
    });
  }

  /** The model without its adapters over the same weights, which stay when it is disposed of. */
  withoutLora(): Model {
    if (this.#lora?.merged) {
      throw new TypeError("Cannot leave adapters out: they must not be merged, got merged ones");
    }
    const bare = new Model(this.config, this.weights, this.generation);
    bare.matmulPrecision = this.matmulPrecision;
    bare.#ownsWeights = false;
    return bare;
  }

  /** Frees the weights. */
  dispose(): void {
    if (this.#ownsWeights) for (const weight of this.weights.values()) weight.dispose();
    this.#lora?.dispose();
    this.#forgetPositions();
  }

  /** Whether adapters are trained and the weights are not. */
  get #adapting(): boolean {
    return this.#lora !== undefined && !this.#lora.merged;
  }

  /** Computes with this model's products, and frees what is not returned. */
  #tidy<T extends tf.TensorContainer>(run: () => T): T {
    return inMatmulPrecision(this.matmulPrecision, () => tf.tidy(run));
  }

  #weight(name: string): tf.Variable {
    return this.weights.get(name)!;
  }

  #outputMatrix(): tf.Variable {
    if (this.config.head !== "logits") {
      throw new TypeError('Cannot give logits: the model must have head "logits", got "value"');
    }
    return this.#weight(this.config.tied ? "model.embed_tokens.weight" : "lm_head.weight");
  }

  /** Cosine and sine of every position's angles, [positions, headDim / 2]; grown when needed. */
  #positions(time: number): readonly RotaryTable[] {
    if (this.#rotary.length > 0 && this.#rotary[0]!.cos.shape[0]! >= time) return this.#rotary;
    const count = Math.min(this.config.contextLength, 2 ** Math.ceil(Math.log2(time)));
    const made = rotaries(this.config).all.map((rotary) => {
      const { cos, sin } = rotaryTable(rotary, count, this.config.headDim / 2);
      return { cos: tf.keep(cos), sin: tf.keep(sin) };
    });
    this.#forgetPositions();
    this.#rotary = made;
    return made;
  }

  #forgetPositions(): void {
    for (const table of this.#rotary) for (const t of [table.cos, table.sin]) t.dispose();
    this.#rotary = [];
  }

  /** Its shape in one line. */
  toString(): string {
    const { family, layers, hiddenSize, vocabSize } = this.config;
    let count = 0;
    for (const weight of this.weights.values()) count += weight.size;
    const lora = this.lora ? " and adapters" : "";
    return `Model (${family}, ${layers} layers of ${hiddenSize}, vocabulary of ${vocabSize}, ${count.toLocaleString("en")} parameters${lora})`;
  }

  [Symbol.for("nodejs.util.inspect.custom")](): string {
    return String(this);
  }
}
