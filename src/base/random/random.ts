import * as exact from "../exact/index.js";
import { checkArguments } from "../../../common/options/check-arguments.js";
/**
 * Randomness that is a pure function of a seed, a path of names and a position.
 *
 * A stream is split by name and by row and never shared: adding a rollout, a branch or a shuffle takes
 * nothing from any other stream. The generator is Philox4x32-10, a keyed counter, so a stream can be
 * read at any position and its whole state is `{ key, position }`.
 */
export interface RandomState {
  key: [number, number];
  position: number;
}

const words = new Uint32Array(4);

function multiplyHigh(a: number, b: number): number {
  // 32 x 32 bits -> the upper 32, in pieces that a double holds exactly.
  const low = (a & 0xffff) * b;
  const high = (a >>> 16) * b + Math.floor(low / 0x10000);
  return Math.floor(high / 0x10000) >>> 0;
}

/** Ten Philox rounds over `words`, in place. */
function philox(k0: number, k1: number): void {
  // By index: destructuring goes through iterators, slow until the code has been compiled.
  let x0 = words[0]!;
  let x1 = words[1]!;
  let x2 = words[2]!;
  let x3 = words[3]!;
  for (let round = 0; round < 10; round++) {
    const h0 = multiplyHigh(0xd2511f53, x0);
    const l0 = Math.imul(0xd2511f53, x0) >>> 0;
    const h1 = multiplyHigh(0xcd9e8d57, x2);
    const l1 = Math.imul(0xcd9e8d57, x2) >>> 0;
    x0 = (h1 ^ x1 ^ k0) >>> 0;
    x1 = l1;
    x2 = (h0 ^ x3 ^ k1) >>> 0;
    x3 = l0;
    k0 = (k0 + 0x9e3779b9) >>> 0;
    k1 = (k1 + 0xbb67ae85) >>> 0;
  }
  words[0] = x0;
  words[1] = x1;
  words[2] = x2;
  words[3] = x3;
}

/** Mixes a number or a name into a key: the key of the named child stream. */
function childKey(key: readonly [number, number], name: string | number): [number, number] {
  // A name is hashed 32 bits at a time; a number and the same digits as text are different names.
  let [k0, k1] = key;
  const text = typeof name === "number" ? `#${name}` : name;
  const bytes = new TextEncoder().encode(text);
  for (let i = 0; i === 0 || i < bytes.length; i += 8) {
    let w0 = 0;
    let w1 = 0;
    for (let j = 0; j < 4; j++) {
      w0 |= (bytes[i + j] ?? 0) << (8 * j);
      w1 |= (bytes[i + 4 + j] ?? 0) << (8 * j);
    }
    words.set([w0, w1, bytes.length, 0x5b117]);
    philox(k0, k1);
    k0 = words[0]!;
    k1 = words[1]!;
  }
  return [k0, k1];
}

/**
 * One seeded stream of uniform draws.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { Random } from "arpo-lab/policy";
 *
 * const sampling = Random.from(7).split("sample");
 * const rows = [0, 1].map((row) => sampling.split(row));
 * assert.notEqual(rows[0].uniform(), rows[1].uniform());
 * assert.equal(Random.from(7).split("sample").split(0).at(0), sampling.split(0).uniform());
 * ```
 */
export class Random {
  readonly #key: [number, number];
  #position: number;

  private constructor(key: [number, number], position: number) {
    this.#key = key;
    this.#position = position;
  }

  /**
   * The root stream of a seed.
   * @param seed a safe integer of at least 0; the same seed gives the same draws
   */
  static from(seed: number): Random {
    if (!Number.isSafeInteger(seed) || seed < 0) {
      throw new RangeError(
        `Cannot seed: the seed must be a non-negative integer, got ${String(seed)}`,
      );
    }
    return new Random([seed >>> 0, Math.floor(seed / 0x100000000) >>> 0], 0);
  }

  /**
   * Continues a stream where `state()` left it.
   * @param state what `state()` returned
   */
  static restore(state: RandomState): Random {
    checkArguments("restore a stream", { state }, { state: { key: "list", position: "count" } });
    return new Random([...state.key], state.position);
  }

  /** What `restore` needs to continue here. */
  state(): RandomState {
    return { key: [...this.#key], position: this.#position };
  }

  /**
   * An independent stream with a name or a number of its own; this stream is not advanced.
   * @param name the name of the new stream
   */
  split(name: string | number): Random {
    checkArguments(
      "split a stream",
      { name },
      { name: typeof name === "number" ? "count" : "text" },
    );
    return new Random(childKey(this.#key, name), 0);
  }

  /**
   * The draw at a position, in [0, 1) with 53 bits, without moving.
   * @param position the place of the draw, counted from the stream's start
   */
  at(position: number): number {
    words[0] = position;
    words[1] = Math.floor(position / 0x100000000);
    words[2] = 0;
    words[3] = 0;
    philox(this.#key[0], this.#key[1]);
    return ((words[0]! >>> 5) * 0x4000000 + (words[1]! >>> 6)) / 0x20000000000000;
  }

  /** The next draw, in [0, 1). */
  uniform(): number {
    return this.at(this.#position++);
  }

  /**
   * An integer in [0, below).
   * @param below the bound; it is never drawn
   */
  integer(below: number): number {
    if (!Number.isSafeInteger(below) || below < 1) {
      throw new RangeError(
        `Cannot draw an integer: 'below' must be a positive integer, got ${below}`,
      );
    }
    return Math.floor(this.uniform() * below);
  }

  /** A draw from the standard normal distribution. */
  normal(): number {
    const radius = Math.sqrt(-2 * exact.log(1 - this.uniform()));
    return radius * exact.cos(2 * Math.PI * this.uniform());
  }

  /**
   * A shuffled copy.
   * @param items the list; it is not changed
   */
  shuffle<T>(items: readonly T[]): T[] {
    checkArguments("shuffle", { items }, { items: "list" });
    const out = [...items];
    for (let i = out.length - 1; i > 0; i--) {
      const j = this.integer(i + 1);
      const item = out[i]!;
      out[i] = out[j]!;
      out[j] = item;
    }
    return out;
  }

  /**
   * One of the items.
   * @param items the list to choose from
   */
  choose<T>(items: readonly T[]): T {
    checkArguments("choose", { items }, { items: "list" });
    return items[this.integer(items.length)]!;
  }
}
