let made = 0;

/** A file in memory. What is read is a copy, so that nobody holds what is written next. */
export class MemoryFile {
  readonly kind = "file";
  readonly ino = ++made;
  #bytes: Uint8Array<ArrayBuffer>;
  #size: number;

  constructor(bytes: Uint8Array<ArrayBuffer> = new Uint8Array()) {
    this.#bytes = bytes;
    this.#size = bytes.length;
  }

  get size(): number {
    return this.#size;
  }

  all(): Uint8Array<ArrayBuffer> {
    return this.#bytes.slice(0, this.#size);
  }

  /** Copies from a position, as much as there is; how much that was. */
  read(into: Uint8Array, offset: number, length: number, position: number): number {
    const count = Math.max(0, Math.min(length, this.#size - position));
    into.set(this.#bytes.subarray(position, position + count), offset);
    return count;
  }

  write(from: Uint8Array, position: number): void {
    const end = position + from.length;
    if (end > this.#bytes.length) {
      // Room for as much again: what is appended line by line is not copied at every line.
      const grown = new Uint8Array(Math.max(end, 2 * this.#size));
      grown.set(this.#bytes.subarray(0, this.#size));
      this.#bytes = grown;
    }
    this.#bytes.set(from, position);
    this.#size = Math.max(this.#size, end);
  }

  truncate(length: number): void {
    if (length > this.#size) this.write(new Uint8Array(length - this.#size), this.#size);
    this.#bytes.fill(0, length, this.#size);
    this.#size = length;
  }
}

/** A folder in memory. */
export class MemoryFolder {
  readonly kind = "folder";
  readonly ino = ++made;
  readonly size = 0;
  readonly entries = new Map<string, MemoryFile | MemoryFolder>();
}
