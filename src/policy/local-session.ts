import { checkArguments } from "../arguments/check-arguments.js";
import { shown } from "../arguments/shown.js";
import type { Decoder } from "../model/decoder/decoder.js";
import type { AllowedMasks } from "./allowed.js";
import type { Batch } from "./batch.js";
import { checkGenerate } from "./check-generate.js";
import { Job } from "./job.js";
import { CacheSequence } from "./cache-sequence.js";
import { LocalSequence } from "./local-sequence.js";
import type { GenerateOptions, Sequence, Segment, Session } from "./policy.js";
import { StopWatcher, type TokenTexts } from "./stops.js";

/** What a policy lends its sessions. */
export interface SessionParts {
  decoder: Decoder;
  batch: Batch;
  texts: TokenTexts;
  allowed: AllowedMasks;
  contextLength: number;
  eosIds: ReadonlySet<number>;
  /** Throws when rows are of weights that training has changed since. */
  fresh: (action: string) => void;
  /** Called before a row is opened and when it is closed. */
  opened: () => void;
  closed: () => void;
}

/** A session on a local decoder. */
export class LocalSession implements Session {
  readonly #parts: SessionParts;
  readonly #sequences = new Set<LocalSequence>();
  #nextId = 0;
  #disposed = false;

  constructor(parts: SessionParts) {
    this.#parts = parts;
  }

  open(tokens: ArrayLike<number>): Sequence {
    if (this.#disposed) {
      throw new Error("Cannot open a row: the session must not be over, but it was disposed");
    }
    const checked = this.#check("open a row", tokens, 0);
    if (checked.length === 0) {
      throw new RangeError("Cannot open a row: the prompt must have at least one token, got none");
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
      new Error(`Cannot generate: the row must stay open, but row ${sequence.id} was closed`),
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
        `Cannot ${action}: the row must be open in this session, got row ${sequence.id}`,
      );
    }
    throw new TypeError(
      `Cannot ${action}: row must be a row of this session, got ${shown(sequence)}`,
    );
  }

  #idle(action: string, sequence: Sequence): LocalSequence {
    const local = this.#find(action, sequence);
    if (!local.job) return local;
    throw new Error(
      `Cannot ${action}: the row must not be generating, but row ${sequence.id} is; await its segment first`,
    );
  }

  #check(action: string, tokens: ArrayLike<number>, before: number): number[] {
    const { decoder, contextLength } = this.#parts;
    checkArguments(action, { tokens }, { tokens: "list" });
    if (before + tokens.length > contextLength) {
      throw new RangeError(
        `Cannot ${action}: a row must fit into the context of ${contextLength} tokens, got ${before + tokens.length}`,
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
