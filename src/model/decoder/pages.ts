/** Tokens a page holds. A sequence's page i always holds its positions 16 i to 16 i + 15. */
export const PAGE_SIZE = 16;

interface PagedSequence {
  pages: number[];
  length: number;
}

/** A sequence's pages during a step, before it is known whether the step succeeds. */
export interface Extension {
  readonly sequence: number;
  /** The sequence's pages with room for the new tokens. */
  readonly pages: readonly number[];
  /** Tokens before the step. */
  readonly from: number;
  /** Tokens after it. */
  readonly to: number;
  /** A shared, half-full page that must be copied before it is written: [source, target]. */
  readonly copy?: readonly [number, number];
}

/**
 * Which pages of a cache belong to which sequences.
 *
 * Pages are counted: a fork shares all of its parent's pages, and only a half-full last page is copied,
 * when one of its owners writes to it. Pages are numbers here; the decoders keep what is in them.
 */
export class Pages {
  readonly #sequences = new Map<number, PagedSequence>();
  readonly #references: number[] = [];
  readonly #free: number[] = [];
  readonly #released: (page: number) => void;
  /** Token ids per page, for the repetition penalty. */
  readonly #ids = new Map<number, Int32Array>();
  #nextSequence = 0;
  #used = 0;

  /** `released` hears of every page that no sequence uses any more. */
  constructor(released: (page: number) => void = () => undefined) {
    this.#released = released;
  }

  /** Pages in use, a shared page once. */
  get used(): number {
    return this.#used;
  }

  /** Open sequences. */
  get sequences(): number {
    return this.#sequences.size;
  }

  open(): number {
    this.#sequences.set(this.#nextSequence, { pages: [], length: 0 });
    return this.#nextSequence++;
  }

  fork(sequence: number): number {
    const { pages, length } = this.#get(sequence, "fork");
    for (const page of pages) this.#references[page]!++;
    this.#sequences.set(this.#nextSequence, { pages: [...pages], length });
    return this.#nextSequence++;
  }

  truncate(sequence: number, length: number): void {
    const paged = this.#get(sequence, "truncate");
    if (!Number.isInteger(length) || length < 0 || length > paged.length) {
      throw new RangeError(
        `Cannot truncate sequence ${sequence}: the length must be an integer from 0 to ${paged.length}, got ${length}`,
      );
    }
    this.#release(paged.pages.splice(Math.ceil(length / PAGE_SIZE)));
    paged.length = length;
  }

  close(sequence: number): void {
    this.#release(this.#get(sequence, "close").pages);
    this.#sequences.delete(sequence);
  }

  length(sequence: number): number {
    return this.#get(sequence, "measure").length;
  }

  /** Pages with room for `count` more tokens; nothing changes for the sequence until `commit`. */
  extend(sequence: number, count: number): Extension {
    const { pages, length } = this.#get(sequence, "feed");
    const extended = [...pages];
    let copy: [number, number] | undefined;
    const last = length % PAGE_SIZE === 0 ? undefined : pages[pages.length - 1]!;
    if (last !== undefined && this.#references[last]! > 1) {
      copy = [last, this.#take()];
      extended[pages.length - 1] = copy[1];
    }
    while (extended.length * PAGE_SIZE < length + count) extended.push(this.#take());
    return { sequence, pages: extended, from: length, to: length + count, copy };
  }

  commit(extension: Extension): void {
    const paged = this.#get(extension.sequence, "feed");
    if (extension.copy) this.#release([extension.copy[0]]);
    paged.pages = extension.pages as number[];
    paged.length = extension.to;
  }

  rollBack(extension: Extension): void {
    const { pages } = this.#get(extension.sequence, "feed");
    if (extension.copy) this.#release([extension.copy[1]]);
    this.#release(extension.pages.slice(pages.length));
  }

  /** Remembers a sequence's new tokens with its pages. */
  record({ pages, from, copy }: Extension, tokens: Int32Array): void {
    if (copy) this.#ids.set(copy[1], this.#ids.get(copy[0])!.slice());
    for (let i = 0; i < tokens.length; i++) {
      const page = pages[Math.floor((from + i) / PAGE_SIZE)]!;
      let ids = this.#ids.get(page);
      if (!ids) this.#ids.set(page, (ids = new Int32Array(PAGE_SIZE)));
      ids[(from + i) % PAGE_SIZE] = tokens[i]!;
    }
  }

  /** All tokens of a sequence, its new ones too. */
  *recorded({ pages, to }: Extension): Iterable<number> {
    for (let i = 0; i < to; i++) {
      yield this.#ids.get(pages[Math.floor(i / PAGE_SIZE)]!)![i % PAGE_SIZE]!;
    }
  }

  #get(sequence: number, action: string): PagedSequence {
    const paged = this.#sequences.get(sequence);
    if (!paged)
      throw new RangeError(`Cannot ${action} sequence ${sequence}: no such sequence is open`);
    return paged;
  }

  #take(): number {
    const page = this.#free.pop() ?? this.#references.length;
    this.#references[page] = 1;
    this.#used++;
    return page;
  }

  #release(pages: readonly number[]): void {
    for (const page of pages) {
      if (--this.#references[page]! > 0) continue;
      this.#free.push(page);
      this.#used--;
      this.#ids.delete(page);
      this.#released(page);
    }
  }
}
