import { mkdir, writeFile } from "#platform/files";
import { join } from "#platform/path";
import { checkArguments, shown } from "../../../common/options/check-arguments.js";
import { SafetensorsFile } from "../../model/files/safetensors-file.js";
import type { Tokenizer } from "../../model/tokenizer/tokenizer.js";
import { checkGenerate, refuseConstraint } from "../../policy/check-generate.js";
import { generate, type GenerationOptions, type Generations } from "../../policy/generate.js";
import type {
  GenerateOptions,
  Policy,
  Segment,
  SequenceLogProbs,
  SequenceToScore,
  Session,
} from "../../policy/policy.js";
import type { Prompt } from "../../policy/prompt.js";
import { TokenTexts } from "../../policy/stops.js";
import { tellAll } from "../../policy/tell-all.js";
import { BaseReader } from "./base-reader.js";
import type { TinkerCapabilities } from "./capabilities.js";
import * as answers from "./client/answers.js";
import { downloadArchive, filesOf } from "./client/download.js";
import { TinkerError } from "./client/errors.js";
import { TinkerClient } from "./client/tinker-client.js";
import { TinkerRun } from "./client/tinker-run.js";
import { readSequence } from "./read-sequence.js";
import { readRow } from "./token-sequences.js";
import { TinkerSession } from "./tinker-session.js";
import type { TinkerTrainee } from "./tinker-trainee.js";

const [weights, settings] = ["adapter_model.safetensors", "adapter_config.json"];

/**
 * Writes the files of a server's adapter archive into a folder, as PEFT and the lab read them. SkyRL's
 * says no target modules; they are those that the weights are of.
 */
async function writeAdapter(files: ReadonlyMap<string, Uint8Array>, folder: string): Promise<void> {
  const [tensors, said] = [files.get(weights), files.get(settings)];
  if (!tensors || !said) {
    throw new TinkerError(
      `Cannot fetch adapters: the archive must hold ${weights} and ${settings}, got ${[...files.keys()].join(", ") || "nothing"}`,
    );
  }
  await mkdir(folder, { recursive: true });
  for (const [name, bytes] of files) await writeFile(join(folder, name), bytes);
  const config = JSON.parse(new TextDecoder().decode(said)) as Record<string, unknown>;
  if (config["target_modules"]) return;
  const file = await SafetensorsFile.open(join(folder, weights));
  const modules = new Set(
    [...file.tensors.keys()].flatMap(
      (name) => /(?<!\w)(\w+)\.lora_[AB]\.weight$/.exec(name)?.[1] ?? [],
    ),
  );
  await file.close();
  const whole = { ...config, target_modules: [...modules] };
  await writeFile(join(folder, settings), JSON.stringify(whole, undefined, 2));
}

/** Where a training at a server stands: what `resume` continues from. */
export interface TinkerSaved {
  /** `tinker://…`: weights and the optimiser. */
  path: string;
  /** Optimiser steps taken until then. */
  steps: number;
  baseModel: string;
  rank: number;
}

/** What a policy at a server is made of. */
export interface TinkerParts {
  client: TinkerClient;
  trainee: TinkerTrainee;
  baseModel: string;
  rank: number;
  tokenizer: Tokenizer;
  contextLength: number;
  /** Alternatives asked for per token. */
  topLogprobs: number;
  /** Opens a new session, for `resume` where this one is over. */
  reconnect: () => Promise<TinkerClient>;
}

/**
 * A model at a Tinker server that samples, and that `update` and `trainOn` train there: rollouts, tools,
 * rewards and credit stay here. `engine.tinker` makes one.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { TinkerPolicy } from "arpo-lab/experimental/scale";
 *
 * // Usually: const far = await engine.tinker("https://…", { tokenizer: "Qwen/Qwen3-8B" });
 * // rollout(far, task); await update(far, batch); await trainOn(far, tasks.calc());
 * assert.equal(typeof TinkerPolicy.prototype.session, "function");
 * ```
 */
export class TinkerPolicy implements Policy {
  readonly sampler = "remote";
  readonly name: string;
  readonly tokenizer: Tokenizer;
  readonly contextLength: number;
  /** What `update` moves. */
  readonly trainee: TinkerTrainee;
  readonly baseModel: string;
  readonly rank: number;
  readonly #texts: TokenTexts;
  readonly #topLogprobs: number;
  readonly #reconnect: TinkerParts["reconnect"];
  #client: TinkerClient;
  /** The weights that can be sampled from. */
  #sampler: { steps: number; run: TinkerRun; id: Promise<string> } | undefined;
  #base: BaseReader | undefined;
  readonly #seen = { tokens: 0, silent: 0, alone: 0, fewest: Infinity };

  constructor(parts: TinkerParts) {
    this.#client = parts.client;
    this.trainee = parts.trainee;
    this.baseModel = parts.baseModel;
    this.rank = parts.rank;
    this.tokenizer = parts.tokenizer;
    this.contextLength = parts.contextLength;
    this.#topLogprobs = parts.topLogprobs;
    this.#reconnect = parts.reconnect;
    this.#texts = new TokenTexts(parts.tokenizer);
    this.name = `${parts.baseModel} at ${new URL(parts.client.url).host}`;
  }

  [Symbol.for("arpo-lab.summary")](): { group: string; text: string } {
    return { group: "Policies", text: `${this.name}, context ${this.contextLength}` };
  }

  [Symbol.for("nodejs.util.inspect.custom")](): string {
    const { steps } = this.trainee;
    return `Policy (${this.name}, adapters of rank ${this.rank}, ${steps} steps, context ${this.contextLength})`;
  }

  /** What the server was found to be. */
  get capabilities(): TinkerCapabilities {
    return this.trainee.capabilities;
  }

  /** What entropies made from this policy's answers mean, in one sentence. */
  get entropyMeaning(): string {
    const { tokens, silent, alone, fewest } = this.#seen;
    if (tokens === 0) return "Entropy: not known yet, nothing was generated.";
    if (silent === tokens) {
      return "Entropy: the server gives no log-probs of what was sampled, so there is none to branch by.";
    }
    if (alone > 0) {
      return "Entropy: the server gives the sampled token's log-prob alone, so every entropy is a surprisal: right on average, noisy for one token; sums over many tokens are comparable.";
    }
    return `Entropy: sums over the ${fewest} most likely tokens, as the reference computes it; the full distribution is not known.`;
  }

  /** The model without adapters, as a reference for a KL loss. */
  get reference(): Required<Pick<Policy, "logProbs">> {
    this.#base ??= new BaseReader(() => this.#client, this.baseModel);
    return this.#base;
  }

  /**
   * Answers a prompt: a question (text, which becomes the user's message), a chat, or a task that has either
   * as its `prompt`; with `raw: true` the task's text is read without the chat template. A list of prompts gives a list, `n` a list per prompt.
   */
  async generate<P extends Prompt | readonly Prompt[], O extends GenerationOptions = object>(
    prompt: P,
    options?: O,
  ): Promise<Generations<P, O>> {
    return (await generate(this, prompt, options)) as Generations<P, O>;
  }

  session(): Session {
    const { steps, run } = this.trainee;
    return new TinkerSession(this.contextLength, (tokens, options) => {
      if (steps !== this.trainee.steps || run !== this.trainee.run) {
        throw new Error(
          "Cannot generate: the weights must be those the session was opened on, but training has changed them since",
        );
      }
      return this.#generate(tokens, options);
    });
  }

  /** ln p of sequences that anybody may have written, under the weights of now; entropies are surprisals. */
  async logProbs(
    sequences: readonly SequenceToScore[],
    { temperature = 1 }: { temperature?: number } = {},
  ): Promise<SequenceLogProbs[]> {
    checkArguments("read sequences", { rows: sequences }, { rows: "list" });
    if (temperature !== 1) {
      throw new RangeError(
        `Cannot read sequences at a Tinker server: temperature must be 1, at which it says log-probabilities, got ${temperature}`,
      );
    }
    const found = await this.trainee.logProbs(sequences.map(readRow));
    return found.map((logprobs) => ({ logprobs, entropies: logprobs.map((p) => -p) }));
  }

  /** Saves weights and the optimiser at the server. Names are letters, digits, `-` and `_`. */
  async save(name = `step-${this.trainee.steps}-${Date.now().toString(36)}`): Promise<TinkerSaved> {
    if (typeof name !== "string" || !/^[\w-]{1,255}$/.test(name)) {
      throw new RangeError(
        `Cannot save at the Tinker server: name must be letters, digits, - and _, got ${shown(name)}`,
      );
    }
    const path = await this.trainee.run.save(name);
    return { path, steps: this.trainee.steps, baseModel: this.baseModel, rank: this.rank };
  }

  /** Goes on from what was saved, in a new model, and in a new session where this one is over. */
  async resume(saved: TinkerSaved): Promise<void> {
    if (!this.#client.alive) this.#client = await this.#reconnect();
    const run = await TinkerRun.create(this.#client, saved.baseModel, { rank: saved.rank });
    await run.load(saved.path);
    this.trainee.resume(run, saved.steps);
    this.#base = undefined;
  }

  /** Brings the adapters into a folder, as PEFT and `loadAdapter` read them. */
  async fetchAdapter(folder: string, name = `adapter-${Date.now().toString(36)}`): Promise<void> {
    checkArguments("fetch adapters", { folder, name }, { folder: "path", name: "path" });
    const path = await this.trainee.run.saveAdapter(name);
    await writeAdapter(await filesOf(await downloadArchive(this.#client, path)), folder);
  }

  /** Ends the heartbeat and whatever is under way; `unload` also gives the model's place back. */
  async close({ unload = false }: { unload?: boolean } = {}): Promise<void> {
    if (unload && this.#client.alive) await this.trainee.run.unload();
    this.#client.close();
  }

  [Symbol.for("arpo-lab.summary")](): { group: string; text: string } {
    const text = `${this.name}, context ${this.contextLength}, ${this.trainee.steps} steps`;
    return { group: "Policies", text };
  }

  async #generate(tokens: readonly number[], options: GenerateOptions): Promise<Segment> {
    checkGenerate(options, tokens.length);
    refuseConstraint(options);
    refuseUnknown(options);
    const capacity = this.contextLength - tokens.length;
    if (capacity <= 0) return nothing();
    const { temperature = 1, stop: stops = [], random, signal } = options;
    const maxTokens = Math.min(options.maxTokens, capacity);
    const seed = Math.floor(random.uniform() * 2 ** 31);
    const id = await this.#samplingSession();
    const { sequences } = await this.#client.work(
      {
        doing: "sample at the Tinker server",
        path: "asample",
        gated: true,
        body: {
          sampling_session_id: id,
          seq_id: this.#client.next(id),
          num_samples: 1,
          prompt: { chunks: [{ type: "encoded_text", tokens }] },
          sampling_params: {
            max_tokens: this.#asked(maxTokens, capacity),
            seed,
            temperature,
            top_k: options.topK ?? -1,
            top_p: options.topP ?? 1,
            // Some take texts or tokens, not both: end tokens are then found here.
            stop: stops.length > 0 ? stops : this.tokenizer.eosIds,
          },
          topk_sample_logprobs: this.#topLogprobs,
          type: "sample",
        },
        signal,
      },
      answers.sampled,
    );
    const { tokenizer } = this;
    const exact = temperature === 1 || temperature === 0;
    const begun = tokens.slice(tokens.length - (options.begun ?? 0));
    const reading = { tokenizer, texts: this.#texts, stops, begun, maxTokens, exact };
    const segment = readSequence(sequences[0]!, reading);
    this.#count(segment);
    const full = segment.finish === "length" && maxTokens < options.maxTokens;
    if (full) segment.finish = "context";
    if (options.onToken) tellAll(segment, options.onToken);
    return segment;
  }

  /** SkyRL's JAX backend compiles anew for every number of tokens: it is asked for round ones. */
  #asked(maxTokens: number, capacity: number): number {
    if (this.capabilities.reduction === "sum") return maxTokens;
    return Math.min(capacity, 32 * Math.ceil(maxTokens / 32));
  }

  /** A sampling session with the weights of now; made once for them. */
  #samplingSession(): Promise<string> {
    const { steps, run } = this.trainee;
    if (this.#sampler?.steps !== steps || this.#sampler.run !== run) {
      const id = run.sampler();
      // What failed is tried again by whoever comes next.
      id.catch(() => (this.#sampler = undefined));
      this.#sampler = { steps, run, id };
    }
    return this.#sampler.id;
  }

  #count({ logprobs, top }: Segment): void {
    this.#seen.tokens += logprobs.length;
    for (const p of logprobs) if (Number.isNaN(p)) this.#seen.silent++;
    if (top.width === 0) this.#seen.alone += logprobs.length;
    else this.#seen.fewest = Math.min(this.#seen.fewest, top.width);
  }
}

/** Refuses what the API has no word for. */
function refuseUnknown({ minP = 0, repetitionPenalty = 1, allowedIds }: GenerateOptions): void {
  const wrong =
    minP !== 0
      ? ["minP", minP]
      : repetitionPenalty !== 1
        ? ["repetitionPenalty", repetitionPenalty]
        : allowedIds
          ? ["allowedIds", "a list"]
          : undefined;
  if (!wrong) return;
  throw new RangeError(
    `Cannot sample at a Tinker server: ${wrong[0]} must be left out, since its API has none, got ${wrong[1]}`,
  );
}

const nothing = (): Segment => ({
  tokens: new Int32Array(0),
  logprobs: new Float32Array(0),
  entropies: new Float32Array(0),
  top: { width: 0, ids: new Int32Array(0), logprobs: new Float32Array(0) },
  finish: "context",
});
