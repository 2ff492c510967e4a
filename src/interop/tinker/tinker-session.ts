import { checkArguments, shown } from "../../../common/options/check-arguments.js";
import type { GenerateOptions, Sequence, Segment, Session } from "../../policy/policy.js";

interface TinkerSequence extends Sequence {
  tokens: number[];
}

/** Sequences that are token lists here and are continued by whole prompts: a fork is a copy of its prefix. */
export class TinkerSession implements Session {
  readonly #sequences = new Set<TinkerSequence>();
  readonly #contextLength: number;
  readonly #generate: (tokens: readonly number[], options: GenerateOptions) => Promise<Segment>;
  #nextId = 0;
  #disposed = false;

  constructor(
    contextLength: number,
    generate: (tokens: readonly number[], options: GenerateOptions) => Promise<Segment>,
  ) {
    this.#contextLength = contextLength;
    this.#generate = generate;
  }

  open(tokens: ArrayLike<number>): Sequence {
    if (this.#disposed) {
      throw new Error("Cannot open a sequence: the session must not be over, but it was disposed");
    }
    checkArguments("open a sequence", { tokens }, { tokens: "list" });
    if (tokens.length === 0) {
      throw new RangeError(
        "Cannot open a sequence: the prompt must have at least one token, got none",
      );
    }
    this.#fits("open a sequence", tokens.length);
    return this.#add(Array.from(tokens));
  }

  fork(sequence: Sequence): Sequence {
    return this.#add([...this.#own("fork", sequence).tokens]);
  }

  append(sequence: Sequence, tokens: ArrayLike<number>): void {
    checkArguments("append", { tokens }, { tokens: "list" });
    const { tokens: all } = this.#own("append", sequence);
    this.#fits("append", all.length + tokens.length);
    for (let i = 0; i < tokens.length; i++) all.push(tokens[i]!);
  }

  async generate(sequence: Sequence, options: GenerateOptions): Promise<Segment> {
    const own = this.#own("generate", sequence);
    const segment = await this.#generate(own.tokens, options);
    for (const token of segment.tokens) own.tokens.push(token);
    return segment;
  }

  truncate(sequence: Sequence, length: number): void {
    const { tokens } = this.#own("truncate", sequence);
    if (!Number.isInteger(length) || length < 1 || length > tokens.length) {
      throw new RangeError(
        `Cannot truncate: the length must be an integer from 1 to ${tokens.length}, got ${length}`,
      );
    }
    tokens.length = length;
  }

  close(sequence: Sequence): void {
    this.#sequences.delete(this.#own("close", sequence));
  }

  dispose(): void {
    this.#disposed = true;
    this.#sequences.clear();
  }

  #add(tokens: number[]): Sequence {
    const sequence = { id: this.#nextId++, tokens };
    this.#sequences.add(sequence);
    return sequence;
  }

  #own(action: string, sequence: Sequence): TinkerSequence {
    for (const own of this.#sequences) if (own === sequence) return own;
    if (typeof sequence?.id !== "number") {
      throw new TypeError(
        `Cannot ${action}: sequence must be a sequence of this session, got ${shown(sequence)}`,
      );
    }
    throw new RangeError(
      `Cannot ${action}: the sequence must be open in this session, got sequence ${sequence.id}`,
    );
  }

  #fits(action: string, length: number): void {
    if (length <= this.#contextLength) return;
    throw new RangeError(
      `Cannot ${action}: a sequence must fit into the context of ${this.#contextLength} tokens, got ${length}`,
    );
  }
}
