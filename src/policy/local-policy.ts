import { generate, type GenerationOptions, type Generations } from "./generate.js";
import type { Prompt } from "./prompt.js";
import { anyNumber, checkOptions, integer, type OptionRules } from "../arguments/check-options.js";
import type { Decoder } from "../model/decoder/decoder.js";
import type { Tokenizer } from "../model/tokenizer/tokenizer.js";
import { AllowedMasks } from "./allowed.js";
import { Batch } from "./batch.js";
import { LocalSession } from "./local-session.js";
import type { Policy, Sampler, Session } from "./policy.js";
import { TokenTexts } from "./stops.js";

/** What a local policy is made of. */
export interface LocalPolicyOptions {
  name: string;
  tokenizer: Tokenizer;
  decoder: Decoder;
  /** Default: all that the decoder can hold. */
  contextLength?: number;
  /** How many of the most likely alternatives a segment reports per token. */
  top?: number;
  /** A number that changes whenever training changes the weights. */
  weightsVersion?: () => number;
}

const rules: OptionRules<LocalPolicyOptions> = {
  name: "text",
  tokenizer: "tokenizer",
  decoder: "object",
  contextLength: anyNumber, // checked against the decoder's
  top: integer(0),
  weightsVersion: "function?",
};

/**
 * A policy that decodes on this machine.
 *
 * All of its sessions share one continuous batch.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { type Tokenizer } from "arpo-lab/model";
 * import { PlainDecoder } from "arpo-lab/experimental/formats";
 * import { LocalPolicy } from "arpo-lab/policy";
 * import { Random } from "arpo-lab/policy";
 *
 * // Two letters and an end, and a model of no layers: it says again what it read last.
 * const shape = { vocabSize: 3, contextLength: 8, hidden: 3, layers: 0, heads: 1, kvHeads: 1,
 *   headDim: 2, feedForward: 1, normEps: 1e-6, inverseFrequencies: [1] };
 * const decoder = new PlainDecoder(shape, () => ({ layers: [],
 *   embedding: new Float32Array([1, 0, 0, 0, 1, 0, 0, 0, 1]),
 *   finalNorm: new Float32Array([9, 9, 9]) }));
 * const tokenizer: Tokenizer = { vocabSize: 3, eosId: 2, eosIds: [2], padId: 2,
 *   encode: (text) => [...text].map((c) => "ab.".indexOf(c)),
 *   decode: (ids) => Array.from(ids, (id) => "ab."[id]).join(""),
 *   chat: (messages) => messages.map((m) => m.content).join("") };
 *
 * const session = new LocalPolicy({ name: "echo", tokenizer, decoder }).session();
 * const row = session.open(tokenizer.encode("b"));
 * const fork = session.fork(row);
 * session.append(fork, tokenizer.encode("a"));
 * const greedy = { temperature: 0, maxTokens: 3, random: Random.from(1) };
 * const [bs, as] = await Promise.all([row, fork].map((r) => session.generate(r, greedy)));
 * assert.deepEqual([tokenizer.decode(bs.tokens), tokenizer.decode(as.tokens)], ["bbb", "aaa"]);
 * assert.equal(bs.finish, "length");
 * session.dispose();
 * ```
 */
export class LocalPolicy implements Policy {
  readonly name: string;
  readonly tokenizer: Tokenizer;
  readonly contextLength: number;
  readonly sampler?: Sampler;
  readonly #options: LocalPolicyOptions;
  readonly #batch: Batch;
  readonly #texts: TokenTexts;
  readonly #allowed: AllowedMasks;
  readonly #eosIds: ReadonlySet<number>;
  #openSequences = 0;
  #version: number;

  constructor(options: LocalPolicyOptions) {
    checkOptions("make a policy", options, rules);
    const { decoder, tokenizer, name, top = 10 } = options;
    const { contextLength = decoder.contextLength } = options;
    if (
      !Number.isInteger(contextLength) ||
      contextLength < 1 ||
      contextLength > decoder.contextLength
    ) {
      throw new RangeError(
        `Cannot make a policy: contextLength must be an integer from 1 to the decoder's ${decoder.contextLength}, got ${contextLength}`,
      );
    }
    this.name = name;
    this.tokenizer = tokenizer;
    this.contextLength = contextLength;
    if (decoder.rounded) this.sampler = decoder.rounded;
    this.#options = options;
    this.#batch = new Batch(decoder, Math.min(top, decoder.vocabSize));
    this.#texts = new TokenTexts(tokenizer);
    this.#allowed = new AllowedMasks(decoder.vocabSize, tokenizer.vocabSize);
    this.#eosIds = new Set(tokenizer.eosIds);
    this.#version = this.#now();
  }

  [Symbol.for("arpo-lab.summary")](): { group: string; text: string } {
    return { group: "Policies", text: `${this.name}, context ${this.contextLength}` };
  }

  /**
   * Answers a prompt: a question (text, which becomes the user's message), a chat, or a task whose
   * `prompt` may be text that is taken as it is. A list of prompts gives a list, `n` a list per prompt.
   */
  async generate<P extends Prompt | readonly Prompt[], O extends GenerationOptions = object>(
    prompt: P,
    options?: O,
  ): Promise<Generations<P, O>> {
    return (await generate(this, prompt, options)) as Generations<P, O>;
  }

  session(): Session {
    return new LocalSession({
      decoder: this.#options.decoder,
      batch: this.#batch,
      texts: this.#texts,
      allowed: this.#allowed,
      contextLength: this.contextLength,
      eosIds: this.#eosIds,
      fresh: (action) => this.#fresh(action),
      opened: () => this.#opened(),
      closed: () => void this.#openSequences--,
    });
  }

  /** Bytes held by the cache of all open rows. */
  bytes(): number {
    return this.#options.decoder.bytes();
  }

  /** Gives the decoder's memory back. */
  dispose(): void {
    this.#options.decoder.dispose();
  }

  /** Takes up new weights when nothing of the old is in the cache. */
  #opened(): void {
    if (this.#openSequences === 0 && this.#now() !== this.#version) {
      this.#options.decoder.refresh();
      this.#version = this.#now();
    }
    this.#fresh("open a row");
    this.#openSequences++;
  }

  #fresh(action: string): void {
    if (this.#now() === this.#version) return;
    throw new Error(
      `Cannot ${action}: rows of the old weights must be closed after training, got ${this.#openSequences} open rows`,
    );
  }

  #now(): number {
    return this.#options.weightsVersion?.() ?? 0;
  }
}
