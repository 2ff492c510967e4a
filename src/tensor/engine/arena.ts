/** A range of a slab, in bytes. */
interface Range {
  at: number;
  size: number;
}

interface Slab {
  buffer: ArrayBuffer;
  /** What is free, by rising place; neighbours are joined. */
  free: Range[];
}

const ALIGNMENT = 64;
const SLAB_BYTES = 32 << 20;

/**
 * Large Float32Arrays cut out of slabs of memory, whatever their sizes, so that a slab can be backed by
 * large pages: with pages of 4 KB a tenth of a training step is the processor looking up where they are.
 * An array that is forgotten without `release` comes back when it is collected.
 */
export class Arena {
  readonly #make: (bytes: number) => ArrayBuffer;
  readonly #slabs = new Map<ArrayBuffer, Slab>();
  readonly #forgotten = new FinalizationRegistry<{ buffer: ArrayBuffer; range: Range }>(
    ({ buffer, range }) => this.#giveBack(buffer, range),
  );
  #used = 0;
  #peak = 0;
  #held = 0;

  /** `make` gives zeroed memory of a size. */
  constructor(make: (bytes: number) => ArrayBuffer) {
    this.#make = make;
  }

  allocate(length: number): Float32Array {
    const size = Math.ceil((length * 4) / ALIGNMENT) * ALIGNMENT;
    const { buffer, at } = this.#take(size) ?? this.#grow(size);
    this.#used += size;
    this.#peak = Math.max(this.#peak, this.#used);
    const array = new Float32Array(buffer, at, length);
    this.#forgotten.register(array, { buffer, range: { at, size } }, array);
    return array;
  }

  owns(array: Float32Array): boolean {
    return this.#slabs.has(array.buffer as ArrayBuffer);
  }

  release(array: Float32Array): void {
    this.#forgotten.unregister(array);
    const size = Math.ceil(array.byteLength / ALIGNMENT) * ALIGNMENT;
    this.#giveBack(array.buffer as ArrayBuffer, { at: array.byteOffset, size });
  }

  memory(): { used: number; idle: number } {
    return { used: this.#used, idle: this.#held - this.#used };
  }

  /** The smallest free range that is large enough. */
  #take(size: number): { buffer: ArrayBuffer; at: number } | undefined {
    let best: Slab | undefined;
    let index = 0;
    let bestSize = Infinity;
    for (const slab of this.#slabs.values()) {
      for (let i = 0; i < slab.free.length; i++) {
        const found = slab.free[i]!.size;
        if (found >= size && found < bestSize) {
          best = slab;
          index = i;
          bestSize = found;
        }
      }
    }
    if (!best) return undefined;
    const range = best.free[index]!;
    const { at } = range;
    range.at += size;
    range.size -= size;
    if (range.size === 0) best.free.splice(index, 1);
    return { buffer: best.buffer, at };
  }

  #grow(size: number): { buffer: ArrayBuffer; at: number } {
    const bytes = Math.max(SLAB_BYTES, size);
    const buffer = this.#make(bytes);
    const free = bytes > size ? [{ at: size, size: bytes - size }] : [];
    this.#slabs.set(buffer, { buffer, free });
    this.#held += bytes;
    return { buffer, at: 0 };
  }

  #giveBack(buffer: ArrayBuffer, range: Range): void {
    const slab = this.#slabs.get(buffer)!;
    this.#used -= range.size;
    const { free } = slab;
    let i = 0;
    let end = free.length;
    while (i < end) {
      const middle = (i + end) >> 1;
      if (free[middle]!.at < range.at) i = middle + 1;
      else end = middle;
    }
    const before = free[i - 1];
    const after = free[i];
    if (before && before.at + before.size === range.at) {
      before.size += range.size;
      if (after && before.at + before.size === after.at) {
        before.size += after.size;
        free.splice(i, 1);
      }
    } else if (after && range.at + range.size === after.at) {
      after.at = range.at;
      after.size += range.size;
    } else {
      free.splice(i, 0, range);
    }
    // An empty slab goes when what is left would do for as much as was once in use, and some more.
    if (free.length === 1 && free[0]!.size === buffer.byteLength) {
      if (this.#held - buffer.byteLength >= this.#peak * 1.25) {
        this.#slabs.delete(buffer);
        this.#held -= buffer.byteLength;
      }
    }
  }
}
