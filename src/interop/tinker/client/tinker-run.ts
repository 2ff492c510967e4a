import { defined } from "../../../../common/options/defined.js";
import * as answers from "./answers.js";
import { TinkerError, TinkerSessionOver } from "./errors.js";
import type { TinkerClient, WorkCall } from "./tinker-client.js";
import { z } from "#zod";

/** The adapters that a server trains. */
export interface TinkerLora {
  /** @default 16 */
  rank?: number;
  /** Of the adapters' first values. A server draws them its own way. */
  seed?: number;
  /** @default true, where the server can leave them out */
  trainAttention?: boolean;
  /** @default true, where the server can leave them out */
  trainMlp?: boolean;
  /** @default false */
  trainUnembedding?: boolean;
}

/** One sequence for a server: tokens, what each predicts, and what the loss is told of each. */
export interface TinkerDatum {
  tokens: ArrayLike<number>;
  targets: ArrayLike<number>;
  inputs: Readonly<Record<string, ArrayLike<number>>>;
}

/** The settings of one optimiser step. */
export interface TinkerAdam {
  learningRate: number;
  weightDecay: number;
  beta1: number;
  beta2: number;
  epsilon: number;
  /** 0: none. A server that cannot clip takes no notice. */
  maxNorm: number;
}

const floats = (data: ArrayLike<number>) => ({
  data: Array.from(data),
  dtype: "float32",
  shape: [data.length],
});

const datum = ({ tokens, targets, inputs }: TinkerDatum) => ({
  model_input: { chunks: [{ type: "encoded_text", tokens: Array.from(tokens) }] },
  loss_fn_inputs: {
    target_tokens: { data: Array.from(targets), dtype: "int64", shape: [targets.length] },
    ...Object.fromEntries(Object.entries(inputs).map(([name, data]) => [name, floats(data)])),
  },
});

/** How a loss is asked for. */
export interface TinkerLoss {
  name: string;
  config?: Readonly<Record<string, number>>;
}

/** A model that is trained at a server: the calls of the API about it, in the order they are made. */
export class TinkerRun {
  private constructor(
    readonly client: TinkerClient,
    readonly modelId: string,
  ) {}

  /** Makes a model with fresh adapters. */
  static async create(
    client: TinkerClient,
    baseModel: string,
    { rank = 16, seed, ...parts }: TinkerLora,
    signal?: AbortSignal,
  ): Promise<TinkerRun> {
    const { model_id: modelId } = await client.work(
      {
        doing: "make a model at the Tinker server",
        path: "create_model",
        effect: "once",
        body: {
          session_id: client.sessionId,
          model_seq_id: client.next("model") - 1,
          base_model: baseModel,
          lora_config: {
            rank,
            ...defined({ seed }),
            train_attn: parts.trainAttention ?? true,
            train_mlp: parts.trainMlp ?? true,
            train_unembed: parts.trainUnembedding ?? false,
          },
          type: "create_model",
        },
        signal,
      },
      answers.created,
    );
    return new TinkerRun(client, modelId);
  }

  /** ln p of each datum's targets; nothing is trained. */
  async forward(data: readonly TinkerDatum[], signal?: AbortSignal): Promise<answers.Passed> {
    const input = { data: data.map(datum), loss_fn: "cross_entropy" };
    const body = { forward_input: input, ...this.#named() };
    return this.#pass({ doing: "read sequences", path: "forward", body, signal }, data);
  }

  /** Adds a loss's gradient to what the next optimiser step takes, and gives ln p of the targets. */
  async forwardBackward(
    data: readonly TinkerDatum[],
    loss: TinkerLoss,
    signal?: AbortSignal,
  ): Promise<answers.Passed> {
    const input = {
      data: data.map(datum),
      loss_fn: loss.name,
      ...defined({ loss_fn_config: loss.config }),
    };
    const body = { forward_backward_input: input, ...this.#named() };
    const call = { doing: "add a gradient", path: "forward_backward", body, signal };
    return this.#pass({ ...call, effect: "once" }, data);
  }

  /** Takes one optimiser step; its figures under the server's names. */
  async optimStep(adam: TinkerAdam, signal?: AbortSignal): Promise<Record<string, number>> {
    const done = await this.#work(
      {
        doing: "take an optimiser step",
        path: "optim_step",
        effect: "once",
        body: {
          adam_params: {
            learning_rate: adam.learningRate,
            beta1: adam.beta1,
            beta2: adam.beta2,
            eps: adam.epsilon,
            weight_decay: adam.weightDecay,
            grad_clip_norm: adam.maxNorm,
          },
          ...this.#named(),
          type: "optim_step",
        },
        signal,
      },
      answers.stepped,
    );
    return done.metrics ?? {};
  }

  /** Saves weights and the optimiser; gives the `tinker://` path to resume from. */
  save(name: string, signal?: AbortSignal): Promise<string> {
    return this.#save("save_weights", name, signal);
  }

  /** Saves the adapters alone, to be sampled from and fetched. */
  saveAdapter(name: string, signal?: AbortSignal): Promise<string> {
    return this.#save("save_weights_for_sampler", name, signal);
  }

  async #save(path: string, name: string, signal?: AbortSignal): Promise<string> {
    const saved = await this.#work(
      {
        doing: "save at the Tinker server",
        path,
        body: { path: name, ...this.#named(), type: path },
        signal,
      },
      answers.saved,
    );
    if (saved.path) return saved.path;
    throw new TinkerError("Cannot save at the Tinker server: it must say where, got nothing");
  }

  /** Puts saved weights and the saved optimiser into this model. */
  async load(path: string, signal?: AbortSignal): Promise<void> {
    const body = { path, optimizer: true, ...this.#named(), type: "load_weights" };
    const doing = `load ${path}`;
    await this.#work(
      { doing, path: "load_weights", body, effect: "once", signal },
      z.looseObject({}),
    );
  }

  /** A sampling session with the weights of now. */
  async sampler(signal?: AbortSignal): Promise<string> {
    try {
      return await this.#sampler(signal);
    } catch (error) {
      // A repetition after a lost answer finds the name taken; another name does the same.
      if (!(error instanceof TinkerError) || !/already exists/.test(error.message)) throw error;
      return this.#sampler(signal);
    }
  }

  async #sampler(signal?: AbortSignal): Promise<string> {
    const body = {
      ...this.#named(),
      sampling_session_seq_id: this.client.next("sampling session") - 1,
      type: "save_weights_for_sampler",
    };
    const path = "save_weights_for_sampler";
    const call = { doing: "give weights to the sampler", path, body, signal };
    const { sampling_session_id: id } = await this.#work(call, answers.saved);
    if (id) return id;
    throw new TinkerError("Cannot sample: the server must name a sampling session, got none");
  }

  /** Gives the model's place at the server back. */
  async unload(signal?: AbortSignal): Promise<void> {
    const body = { model_id: this.modelId, type: "unload_model" };
    const doing = "give a model back";
    await this.#work({ doing, path: "unload_model", body, signal }, z.looseObject({}));
  }

  #named() {
    return { model_id: this.modelId, seq_id: this.client.next(this.modelId) };
  }

  async #pass(
    call: WorkCall & { signal: AbortSignal | undefined },
    data: readonly TinkerDatum[],
  ): Promise<answers.Passed> {
    const answer = await this.#work(call, answers.passed);
    answer.loss_fn_outputs.forEach(({ logprobs }, i) => {
      const wanted = data[i]?.targets.length;
      if (logprobs?.length === wanted) return;
      throw new TinkerError(
        `Cannot ${call.doing}: the server must answer ${wanted} log-probabilities for sequence ${i}, got ${logprobs?.length ?? "none"}`,
        "server",
      );
    });
    if (answer.loss_fn_outputs.length === data.length) return answer;
    throw new TinkerError(
      `Cannot ${call.doing}: the server must answer for ${data.length} sequences, got ${answer.loss_fn_outputs.length}`,
      "server",
    );
  }

  async #work<T>(call: WorkCall, read: z.ZodType<T>): Promise<T> {
    try {
      return await this.client.work(call, read);
    } catch (error) {
      const gone = `Model ${this.modelId} not loaded`;
      if (!(error instanceof TinkerError) || !error.message.includes(gone)) throw error;
      throw new TinkerSessionOver(
        `Cannot ${call.doing}: model ${this.modelId} must be loaded at the server, got none, as after a session that ended without heartbeats; what was saved is resumed in a new one`,
      );
    }
  }
}
