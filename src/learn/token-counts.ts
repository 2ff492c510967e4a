/** Tokens of rows that are padded to the longest. */
export class PaddedCount {
  #rows = 0;
  #longest = 0;

  /** What it would be with another row. */
  with({ length }: ArrayLike<number>): number {
    return (this.#rows + 1) * Math.max(this.#longest, length);
  }

  add({ length }: ArrayLike<number>): void {
    this.#rows++;
    this.#longest = Math.max(this.#longest, length);
  }
}

type Followers = Map<number, Followers>;

/** A place in a row takes a quarter of what a shared token does: attention alone lays rows out. */
const PLACE = 1 / 4;

/** Tokens of rows that are laid over each other: what they begin with in common counts once. */
export class SharedCount {
  readonly #begin: Followers = new Map();
  readonly #places = new PaddedCount();
  #tokens = 0;

  /** What it would be with another row. */
  with(row: ArrayLike<number>): number {
    let at: Followers | undefined = this.#begin;
    let t = 0;
    while (t < row.length && (at = at.get(row[t]!))) t++;
    return Math.max(this.#tokens + row.length - t, this.#places.with(row) * PLACE);
  }

  add(row: ArrayLike<number>): void {
    this.#places.add(row);
    let at = this.#begin;
    for (let t = 0; t < row.length; t++) {
      let next = at.get(row[t]!);
      if (!next) {
        at.set(row[t]!, (next = new Map()));
        this.#tokens++;
      }
      at = next;
    }
  }
}
