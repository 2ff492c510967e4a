import type { Sampled } from "../model/decoder/decoder.js";
import type { CacheSequence } from "./cache-sequence.js";
import type {
  Constraint,
  FinishReason,
  GenerateOptions,
  Sampling,
  Segment,
  Sequence,
} from "./policy.js";
import type { StopWatcher } from "./stops.js";
import { countIds, idsOf, SupportList, type TokenSupport } from "./token-sets.js";

/**
 * Where a constraint alone leaves more ids, as inside a text, they are not listed for each token: log-probabilities are
 * then over the whole vocabulary, at the sampler and in an update alike.
 */
const MOST_LISTED = 4096;

const cuts = ({ topK = -1, topP = 1, minP = 0 }: Sampling) => topK > 0 || topP < 1 || minP > 0;

/** What a sequence knows of the generate call that is running on it. */
interface RunningCall {
  /** Ends it without a segment. */
  fail(reason: unknown): void;
}

/** A sequence of a local session. */
export class LocalSequence implements Sequence {
  readonly id: number;
  readonly tokens: number[];
  line: CacheSequence;
  job: RunningCall | undefined;

  constructor(id: number, tokens: number[], line: CacheSequence) {
    this.id = id;
    this.tokens = tokens;
    this.line = line;
  }
}

interface JobParts {
  sequence: LocalSequence;
  options: GenerateOptions;
  stops: StopWatcher;
  allowed: Uint32Array | undefined;
  contextLength: number;
  vocabSize: number;
  eosIds: ReadonlySet<number>;
}

/** One running generate call: what it has made so far and when it ends. */
export class Job {
  readonly sequence: LocalSequence;
  readonly options: GenerateOptions;
  readonly promise: Promise<Segment>;
  readonly #stops: StopWatcher;
  readonly #contextLength: number;
  readonly #eosIds: ReadonlySet<number>;
  readonly #start: number;
  readonly #tokens: number[] = [];
  readonly #logprobs: number[] = [];
  readonly #entropies: number[] = [];
  readonly #topIds: number[] = [];
  readonly #topLogprobs: number[] = [];
  readonly #support = new SupportList();
  readonly #vocabSize: number;
  readonly #allowed: Uint32Array | undefined;
  readonly #constraint: Constraint | undefined;
  #mask: Uint32Array | undefined;
  #width = 0;
  #settled = false;
  #resolve!: (segment: Segment) => void;
  #reject!: (reason: unknown) => void;
  readonly #onAbort = (): void => this.fail(this.options.signal!.reason);

  constructor(parts: JobParts) {
    this.sequence = parts.sequence;
    this.options = parts.options;
    this.#allowed = parts.allowed;
    this.#constraint = parts.options.constraint?.fork();
    this.#stops = parts.stops;
    this.#contextLength = parts.contextLength;
    this.#eosIds = parts.eosIds;
    this.#vocabSize = parts.vocabSize;
    this.#start = this.sequence.tokens.length;
    this.promise = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    this.sequence.job = this;
    if (this.#start >= this.#contextLength) this.#finish("context");
    else if (this.options.signal?.aborted) this.#onAbort();
    else this.options.signal?.addEventListener("abort", this.#onAbort, { once: true });
  }

  /** True once the promise has an answer: the sequence belongs to its session again. */
  get settled(): boolean {
    return this.#settled;
  }

  /** Whether something else than the model says what may come: a constraint, or a list of ids. */
  get constrained(): boolean {
    return this.#constraint !== undefined || this.options.allowedIds !== undefined;
  }

  /** The mask of ids that may come next; undefined allows every id. */
  allowed(): Uint32Array | undefined {
    if (!this.#constraint) {
      if (this.options.allowedIds) this.#mask = this.#allowed;
      return this.#allowed;
    }
    const words = Math.ceil(this.#vocabSize / 32);
    const own = this.#constraint.mask();
    const named = this.options.allowedIds ? this.#allowed : undefined;
    // A model may have more ids than its tokenizer: none of them is allowed.
    const mask =
      named || own.length < words
        ? Uint32Array.from({ length: words }, (_, i) => (own[i] ?? 0) & (named?.[i] ?? ~0))
        : own;
    if (mask.every((word) => word === 0)) {
      throw new RangeError("Cannot generate: a constraint must allow at least one id, got none");
    }
    return (this.#mask = mask);
  }

  /** Takes what a step chose for this sequence. */
  take(sampled: Sampled, at: number, width: number): void {
    const token = sampled.tokens[at]!;
    this.#width = width;
    this.sequence.tokens.push(token);
    this.#tokens.push(token);
    this.#logprobs.push(sampled.logprobs[at]!);
    this.#entropies.push(sampled.entropies[at]!);
    for (let i = at * width; i < (at + 1) * width; i++) {
      this.#topIds.push(sampled.topIds[i]!);
      this.#topLogprobs.push(sampled.topLogprobs[i]!);
    }
    const support = this.#supportOf(sampled, at);
    this.#support.push(support);
    if (!this.#advance(token)) return;
    if (this.options.onToken && !this.#tell(this.options.onToken, sampled, at, support)) return;
    const stop = this.#stops.push(token);
    if (this.#eosIds.has(token)) this.#finish("end");
    else if (stop !== undefined) this.#finish("stop", stop);
    else if (this.#tokens.length >= this.options.maxTokens) this.#finish("length");
    else if (this.sequence.tokens.length >= this.#contextLength) this.#finish("context");
  }

  /** What the newest token was sampled from. */
  #supportOf({ support, supportLogprobs, logprobs, tokens }: Sampled, at: number): TokenSupport {
    if (this.#mask && countIds(this.#mask) === 1) {
      return { ids: [tokens[at]!], logprob: 0, given: true };
    }
    const words = support.length / tokens.length;
    const kept = support.subarray(at * words, (at + 1) * words);
    const many = this.#mask !== undefined && countIds(kept) > MOST_LISTED && !cuts(this.options);
    const ids = many ? [] : idsOf(kept, this.#vocabSize);
    const whole = ids.length === this.#vocabSize;
    const logprob = logprobs[at]! - supportLogprobs[at]!;
    return { ids: whole ? [] : ids, logprob, given: false };
  }

  /** Tells the constraint of the newest token; what it throws is its own sequence's failure. */
  #advance(token: number): boolean {
    try {
      this.#constraint?.take(token);
    } catch (error) {
      this.fail(error);
    }
    return !this.#settled;
  }

  /** Tells the caller of the newest token; what it throws is its own sequence's failure. */
  #tell(
    onToken: NonNullable<GenerateOptions["onToken"]>,
    sampled: Sampled,
    at: number,
    support: TokenSupport,
  ): boolean {
    const [from, to] = [at * this.#width, (at + 1) * this.#width];
    try {
      onToken({
        token: sampled.tokens[at]!,
        logprob: sampled.logprobs[at]!,
        entropy: sampled.entropies[at]!,
        top: {
          ids: sampled.topIds.slice(from, to),
          logprobs: sampled.topLogprobs.slice(from, to),
        },
        support,
      });
    } catch (error) {
      this.fail(error);
    }
    return !this.#settled;
  }

  /** Ends without a segment; the sequence is again what it was before the call. */
  fail(reason: unknown): void {
    if (this.#settled) return;
    this.#settle();
    if (this.sequence.tokens.length > this.#start) {
      this.sequence.tokens.length = this.#start;
      this.sequence.line.truncate(this.#start);
    }
    this.#reject(reason);
  }

  #finish(finish: FinishReason, stop?: string): void {
    this.#settle();
    const segment: Segment = {
      tokens: Int32Array.from(this.#tokens),
      logprobs: Float32Array.from(this.#logprobs),
      entropies: Float32Array.from(this.#entropies),
      top: {
        width: this.#width,
        ids: Int32Array.from(this.#topIds),
        logprobs: Float32Array.from(this.#topLogprobs),
      },
      finish,
    };
    const support = this.#support.value();
    if (support) segment.support = support;
    if (stop !== undefined) segment.stop = stop;
    this.#resolve(segment);
  }

  #settle(): void {
    this.#settled = true;
    this.sequence.job = undefined;
    this.options.signal?.removeEventListener("abort", this.#onAbort);
  }
}
