import { checkArguments, shown } from "../../common/options/check-arguments.js";
import {
  anyNumber,
  checkOptions,
  integer,
  type OptionRules,
} from "../../common/options/check-options.js";
import type { Decoder } from "../model/decoder/decoder.js";
import type { Tokenizer } from "../model/tokenizer/tokenizer.js";
import { AllowedMasks } from "./token-sets.js";
import { Batch } from "./batch.js";
import { CacheSequence } from "./cache-sequence.js";
import { checkGenerate } from "./check-generate.js";
import { generate, type GenerationOptions, type Generations } from "./generate.js";
import { Job, LocalSequence } from "./job.js";
import type { GenerateOptions, Policy, Sampler, Segment, Sequence, Session } from "./policy.js";
import type { Prompt } from "./prompt.js";
import { StopWatcher, TokenTexts } from "./stops.js";

/** What a policy lends its sessions. */
interface SessionParts {
  decoder: Decoder;
  batch: Batch;
  texts: TokenTexts;
  allowed: AllowedMasks;
  contextLength: number;
  eosIds: ReadonlySet<number>;
  /** Throws when sequences are of weights that training has changed since. */
  fresh: (action: string) => void;
  /** Called before a sequence is opened and when it is closed. */
  opened: () => void;
  closed: () => void;
}

/** A session on a local decoder. */
class LocalSession implements Session {
  readonly #parts: SessionParts;
  readonly #sequences = new Set<LocalSequence>();
  #nextId = 0;
  #disposed = false;

  constructor(parts: SessionParts) {
    this.#parts = parts;
  }

  open(tokens: ArrayLike<number>): Sequence {
    if (this.#disposed) {
      throw new Error("Cannot open a sequence: the session must not be over, but it was disposed");
    }
    const checked = this.#check("open a sequence", tokens, 0);
    if (checked.length === 0) {
      throw new RangeError(
        "Cannot open a sequence: the prompt must have at least one token, got none",
      );
    }
    this.#parts.opened();
    return this.#add(checked, new CacheSequence(this.#parts.decoder));
  }

  fork(sequence: Sequence): Sequence {
    const parent = this.#find("fork", sequence);
    this.#parts.opened();
    const [own, forked] = parent.line.split(parent.tokens);
    parent.line = own;
    return this.#add([...parent.tokens], forked);
  }

  append(sequence: Sequence, tokens: ArrayLike<number>): void {
    const local = this.#idle("append", sequence);
    const checked = this.#check("append", tokens, local.tokens.length);
    for (const token of checked) local.tokens.push(token);
  }

  generate(sequence: Sequence, options: GenerateOptions): Promise<Segment> {
    try {
      const { texts, allowed, contextLength, eosIds, batch } = this.#parts;
      const local = this.#idle("generate", sequence);
      this.#parts.fresh("generate");
      checkGenerate(options, local.tokens.length);
      const begun = local.tokens.slice(local.tokens.length - (options.begun ?? 0));
      const job = new Job({
        sequence: local,
        options,
        stops: new StopWatcher(texts, options.stop ?? [], begun),
        allowed: allowed.of(options.allowedIds),
        contextLength,
        vocabSize: this.#parts.decoder.vocabSize,
        eosIds,
      });
      batch.add(job);
      return job.promise;
    } catch (error) {
      return Promise.reject(error as Error);
    }
  }

  truncate(sequence: Sequence, length: number): void {
    const local = this.#idle("truncate", sequence);
    if (!Number.isInteger(length) || length < 1 || length > local.tokens.length) {
      throw new RangeError(
        `Cannot truncate: the length must be an integer from 1 to ${local.tokens.length}, got ${length}`,
      );
    }
    local.tokens.length = length;
    local.line.truncate(length);
  }

  close(sequence: Sequence): void {
    const local = this.#find("close", sequence);
    local.job?.fail(
      new Error(
        `Cannot generate: the sequence must stay open, but sequence ${sequence.id} was closed`,
      ),
    );
    this.#sequences.delete(local);
    local.line.release();
    this.#parts.closed();
  }

  dispose(): void {
    this.#disposed = true;
    for (const sequence of this.#sequences) this.close(sequence);
  }

  #add(tokens: number[], line: CacheSequence): Sequence {
    const sequence = new LocalSequence(this.#nextId++, tokens, line);
    this.#sequences.add(sequence);
    return sequence;
  }

  #find(action: string, sequence: Sequence): LocalSequence {
    if (sequence instanceof LocalSequence) {
      if (this.#sequences.has(sequence)) return sequence;
      throw new RangeError(
        `Cannot ${action}: the sequence must be open in this session, got sequence ${sequence.id}`,
      );
    }
    throw new TypeError(
      `Cannot ${action}: sequence must be a sequence of this session, got ${shown(sequence)}`,
    );
  }

  #idle(action: string, sequence: Sequence): LocalSequence {
    const local = this.#find(action, sequence);
    if (!local.job) return local;
    throw new Error(
      `Cannot ${action}: the sequence must not be generating, but sequence ${sequence.id} is; await its segment first`,
    );
  }

  #check(action: string, tokens: ArrayLike<number>, before: number): number[] {
    const { decoder, contextLength } = this.#parts;
    checkArguments(action, { tokens }, { tokens: "list" });
    if (before + tokens.length > contextLength) {
      throw new RangeError(
        `Cannot ${action}: a sequence must fit into the context of ${contextLength} tokens, got ${before + tokens.length}`,
      );
    }
    return Array.from(tokens, (id) => {
      if (Number.isInteger(id) && id >= 0 && id < decoder.vocabSize) return id;
      throw new RangeError(
        `Cannot ${action}: token ids must be integers from 0 to ${decoder.vocabSize - 1}, got ${id}`,
      );
    });
  }
}

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
 * import { LocalPolicy } from "arpo-lab/experimental/formats";
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
 * const sequence = session.open(tokenizer.encode("b"));
 * const fork = session.fork(sequence);
 * session.append(fork, tokenizer.encode("a"));
 * const greedy = { temperature: 0, maxTokens: 3, random: Random.from(1) };
 * const [bs, as] = await Promise.all([sequence, fork].map((r) => session.generate(r, greedy)));
 * assert.deepEqual([tokenizer.decode(bs.tokens), tokenizer.decode(as.tokens)], ["bbb", "aaa"]);
 * assert.equal(bs.finish, "length");
 * session.dispose();
 * ```
 */
export class LocalPolicy implements Policy {
  readonly name: string;
  readonly tokenizer: Tokenizer;
  readonly contextLength: number;
  readonly holdsConstraints = true;
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
    this.#options = options;
    this.#batch = new Batch(decoder, Math.min(top, decoder.vocabSize));
    this.#texts = new TokenTexts(tokenizer);
    this.#allowed = new AllowedMasks(decoder.vocabSize, tokenizer.vocabSize);
    this.#eosIds = new Set(tokenizer.eosIds);
    this.#version = this.#now();
  }

  get sampler(): Sampler | undefined {
    return this.#options.decoder.rounded;
  }

  [Symbol.for("arpo-lab.summary")](): { group: string; text: string } {
    return { group: "Policies", text: `${this.name}, context ${this.contextLength}` };
  }

  [Symbol.for("nodejs.util.inspect.custom")](): string {
    return `Policy (${this.name}, context ${this.contextLength}${this.sampler ? `, ${this.sampler}` : ""})`;
  }

  /**
   * Answers a prompt: a question (text, which becomes the user's message), a chat, or a task that has either
   * as its `prompt`; with `raw: true` the task's text is read without the chat template. A list of prompts gives a list, `n` a list per prompt.
   * @param prompt a question, a chat, a task, or a list of them
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

  /** Bytes held by the cache of all open sequences. */
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
    this.#fresh("open a sequence");
    this.#openSequences++;
  }

  #fresh(action: string): void {
    if (this.#now() === this.#version) return;
    throw new Error(
      `Cannot ${action}: sequences of the old weights must be closed after training, got ${this.#openSequences} open sequences`,
    );
  }

  #now(): number {
    return this.#options.weightsVersion?.() ?? 0;
  }
}
