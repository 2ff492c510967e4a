import type { ChatMessage, Tokenizer } from "../model/tokenizer/tokenizer.js";
import type { Random } from "../base/random/random.js";
import type { Support, TokenSupport } from "./token-sets.js";

/** How the next token is chosen. Unset means: as the model says, temperature 1, nothing cut off. */
export interface Sampling {
  /** Logits are divided by it before sampling; 0 is greedy. Default: 1. */
  temperature?: number;
  /** Keep the k most likely tokens; -1 or 0 keeps all. Default: all. */
  topK?: number;
  /** Keep the smallest set of tokens whose probability reaches p. Default: 1, all. */
  topP?: number;
  /** Keep tokens at least this share as likely as the most likely one. Default: 0, off. */
  minP?: number;
  /**
   * Divides (or, if negative, multiplies) the logits of tokens already in the sequence. Default: 1,
   * off.
   */
  repetitionPenalty?: number;
  /** Sample only these token ids. Default: every id the tokenizer knows. */
  allowedIds?: readonly number[];
}

/**
 * What may come next in a sequence: asked before each token, told of it after. `jsonConstraint` makes one from a
 * JSON schema.
 */
export interface Constraint {
  /** Bit i allows id i; at least one must be. What was given out stays as it is. */
  mask(): Uint32Array;
  /**
   * Takes up a token.
   * @param id a token that the mask allows
   */
  take(id: number): void;
  /** Another that stands where this one does. */
  fork(): Constraint;
}

/** One request to continue a sequence. */
export interface GenerateOptions extends Sampling {
  /** Generation ends after this many new tokens. */
  maxTokens: number;
  /**
   * Generation ends when the decoded segment contains one of these; its tokens stay in the segment.
   * Default: none.
   */
  stop?: readonly string[];
  /**
   * How many of the sequence's last tokens are one text with what comes: a stop string may begin in them.
   * Default 0.
   */
  begun?: number;
  /** The sequence's own stream; draw i belongs to the i-th token generated from it. */
  random: Random;
  /** What the segment may be. It is forked, and stays as it is. Policies in this process alone. Default: none. */
  constraint?: Constraint;
  /** Stops the generation with an error. Default: none. */
  signal?: AbortSignal;
  /**
   * Called with each token as soon as it is known; those of a remote endpoint come all at once.
   * Default: none.
   */
  onToken?: (token: GeneratedToken) => void;
}

/** One token of a segment, while the segment is being written. */
export interface GeneratedToken {
  token: number;
  logprob: number;
  entropy: number;
  /** The most likely alternatives, in falling order. */
  top: { ids: Int32Array; logprobs: Float32Array };
  /** What it was sampled from, where the sampler says so. */
  support?: TokenSupport;
}

/** Why a segment ended: a stop string, an end token, `maxTokens`, or the model's context was full. */
export type FinishReason = "stop" | "end" | "length" | "context";

/** What one generate call added to a sequence, with everything known about each token. */
export interface Segment {
  tokens: Int32Array;
  /** ln p(token) under the model at the sampling temperature, before any cut-off. */
  logprobs: Float32Array;
  /** Entropy of the full distribution in nats; NaN where a remote endpoint cannot say. */
  entropies: Float32Array;
  /** The most likely alternatives per position, `width` per token, in falling order. */
  top: { width: number; ids: Int32Array; logprobs: Float32Array };
  /** What each token was sampled from, where top-k, top-p, min-p or a constraint cut it and the sampler says so. */
  support?: Support;
  finish: FinishReason;
  /** The stop string that ended it, if one did. */
  stop?: string;
}

/** A sequence of a session: a token sequence that can be continued and forked. */
export interface Sequence {
  readonly id: number;
  /** All tokens so far, prompt included. */
  readonly tokens: readonly number[];
}

/** What a session may be told of a prompt besides its tokens. */
export interface OpenOptions {
  /**
   * The chat that the prompt was made of: an endpoint that writes prompts itself (`api: "chat"`) is
   * sent these. They stay with the sequence and its forks. Default: none.
   */
  messages?: readonly ChatMessage[];
}

/**
 * Sequences in one continuous batch. `generate` calls on different sequences run together: sequences start,
 * stop and fork at any step, and what a sequence gets never depends on who else is in the batch.
 */
export interface Session {
  /**
   * Opens a sequence on a prompt.
   * @param tokens the prompt's token ids
   */
  open(tokens: ArrayLike<number>, options?: OpenOptions): Sequence;
  /**
   * A second sequence with the same past, sharing its memory: no copy, no recomputation.
   * @param sequence the sequence to fork
   */
  fork(sequence: Sequence): Sequence;
  /**
   * Adds tokens the model did not write (a tool's result).
   * @param sequence the sequence that gets the tokens
   * @param tokens token ids
   */
  append(sequence: Sequence, tokens: ArrayLike<number>): void;
  /**
   * Continues a sequence until a stop string, an end token or `maxTokens`.
   * @param sequence the sequence to continue
   */
  generate(sequence: Sequence, options: GenerateOptions): Promise<Segment>;
  /**
   * Cuts a sequence back to its first `length` tokens (for forking in the middle).
   * @param sequence the sequence to cut
   * @param length how many tokens it keeps
   */
  truncate(sequence: Sequence, length: number): void;
  /**
   * Gives a sequence's memory back.
   * @param sequence the sequence to free
   */
  close(sequence: Sequence): void;
  /** Closes every sequence. */
  dispose(): void;
}

/**
 * How what samples differs from the model that trains: it is elsewhere, a rounded copy, or in float32 where training
 * multiplies in bfloat16. Its
 * log-probabilities are not the model's, and an update corrects for that.
 */
export type Sampler =
  "remote" | "float32" | "bfloat16" | "float16" | "int8" | "q4" | "w8a8" | "w4a8" | "w16a16";

/** What follows a prompt, to be read again. */
export interface SequenceToScore {
  prompt: ArrayLike<number>;
  tokens: ArrayLike<number>;
}

/** What a policy says of tokens that it is shown. */
export interface SequenceLogProbs {
  /** ln p of each token behind the prompt. */
  logprobs: Float32Array;
  /** Entropy of the whole distribution at each, in nats. */
  entropies: Float32Array;
}

/** Something that generates and says how sure it was: a local model or a remote endpoint. */
export interface Policy {
  /** Set where what samples is not the model that trains. */
  readonly sampler?: Sampler | undefined;
  /** Shown in figures and kept in run folders. */
  readonly name: string;
  /** How many updates its weights have been through; absent where nobody counts them. */
  readonly version?: number | undefined;
  readonly tokenizer: Tokenizer;
  /** The longest sequence it can hold, prompt included. */
  readonly contextLength: number;
  /** Whether its `generate` takes a `constraint`: tokens are sampled in this process. */
  readonly holdsConstraints?: boolean;
  session(): Session;
  /** ln p of sequences that somebody else may have written; not every policy can say. */
  logProbs?(
    sequences: readonly SequenceToScore[],
    options?: { temperature?: number },
  ): Promise<SequenceLogProbs[]>;
}
