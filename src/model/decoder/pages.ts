/** Tokens a page holds. A sequence's page i always holds its positions 16 i to 16 i + 15. */
export const PAGE_SIZE = 16;

interface PagedRow {
  pages: number[];
  length: number;
}

/** A sequence's pages during a step, before it is known whether the step succeeds. */
export interface Extension {
  readonly row: number;
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
  readonly #rows = new Map<number, PagedRow>();
  readonly #references: number[] = [];
  readonly #free: number[] = [];
  readonly #released: (page: number) => void;
  #nextRow = 0;
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
  get rows(): number {
    return this.#rows.size;
  }

  open(): number {
    this.#rows.set(this.#nextRow, { pages: [], length: 0 });
    return this.#nextRow++;
  }

  fork(row: number): number {
    const { pages, length } = this.#get(row, "fork");
    for (const page of pages) this.#references[page]!++;
    this.#rows.set(this.#nextRow, { pages: [...pages], length });
    return this.#nextRow++;
  }

  truncate(row: number, length: number): void {
    const paged = this.#get(row, "truncate");
    if (!Number.isInteger(length) || length < 0 || length > paged.length) {
      throw new RangeError(
        `Cannot truncate sequence ${row}: the length must be an integer from 0 to ${paged.length}, got ${length}`,
      );
    }
    this.#release(paged.pages.splice(Math.ceil(length / PAGE_SIZE)));
    paged.length = length;
  }

  close(row: number): void {
    this.#release(this.#get(row, "close").pages);
    this.#rows.delete(row);
  }

  length(row: number): number {
    return this.#get(row, "measure").length;
  }

  /** Pages with room for `count` more tokens; nothing changes for the sequence until `commit`. */
  extend(row: number, count: number): Extension {
    const { pages, length } = this.#get(row, "feed");
    const extended = [...pages];
    let copy: [number, number] | undefined;
    const last = length % PAGE_SIZE === 0 ? undefined : pages[pages.length - 1]!;
    if (last !== undefined && this.#references[last]! > 1) {
      copy = [last, this.#take()];
      extended[pages.length - 1] = copy[1];
    }
    while (extended.length * PAGE_SIZE < length + count) extended.push(this.#take());
    return { row, pages: extended, from: length, to: length + count, copy };
  }

  commit(extension: Extension): void {
    const paged = this.#get(extension.row, "feed");
    if (extension.copy) this.#release([extension.copy[0]]);
    paged.pages = extension.pages as number[];
    paged.length = extension.to;
  }

  rollBack(extension: Extension): void {
    const { pages } = this.#get(extension.row, "feed");
    if (extension.copy) this.#release([extension.copy[1]]);
    this.#release(extension.pages.slice(pages.length));
  }

  #get(row: number, action: string): PagedRow {
    const paged = this.#rows.get(row);
    if (!paged) throw new RangeError(`Cannot ${action} sequence ${row}: no such sequence is open`);
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
      this.#released(page);
    }
  }
}
