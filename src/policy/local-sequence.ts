import type { CacheSequence } from "./cache-sequence.js";
import type { Sequence } from "./policy.js";

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
