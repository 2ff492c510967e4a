let count = 0;

/** A file in memory. What is read is a copy, so that nobody holds what is written next. */
export class MemoryFile {
  readonly kind = "file";
  readonly ino = ++count;
  readonly made = Date.now();
  written = this.made;
  #bytes: Uint8Array<ArrayBuffer>;
  #size: number;
  #fetch: (() => Uint8Array<ArrayBuffer>) | undefined;

  constructor(bytes: Uint8Array<ArrayBuffer> = new Uint8Array()) {
    this.#bytes = bytes;
    this.#size = bytes.length;
  }

  /** A file that is fetched when somebody first looks into it. */
  static remote(size: number, fetch: () => Uint8Array<ArrayBuffer>): MemoryFile {
    const file = new MemoryFile();
    file.#size = size;
    file.#fetch = fetch;
    return file;
  }

  /** Nobody has looked into it yet. */
  get isRemote(): boolean {
    return this.#fetch !== undefined;
  }

  #here(): Uint8Array<ArrayBuffer> {
    if (this.#fetch !== undefined) {
      this.#bytes = this.#fetch();
      this.#size = this.#bytes.length;
      this.#fetch = undefined;
    }
    return this.#bytes;
  }

  get size(): number {
    return this.#size;
  }

  all(): Uint8Array<ArrayBuffer> {
    return this.#here().slice(0, this.#size);
  }

  /** Copies from a position, as much as there is; how much that was. */
  read(into: Uint8Array, offset: number, length: number, position: number): number {
    const bytes = this.#here();
    const count = Math.max(0, Math.min(length, this.#size - position));
    into.set(bytes.subarray(position, position + count), offset);
    return count;
  }

  write(from: Uint8Array, position: number): void {
    this.#here();
    const end = position + from.length;
    if (end > this.#bytes.length) {
      // Room for as much again: what is appended line by line is not copied at every line.
      const grown = new Uint8Array(Math.max(end, 2 * this.#size));
      grown.set(this.#bytes.subarray(0, this.#size));
      this.#bytes = grown;
    }
    this.written = Date.now();
    this.#bytes.set(from, position);
    this.#size = Math.max(this.#size, end);
  }

  truncate(length: number): void {
    if (length > 0) this.#here();
    this.#fetch = undefined;
    if (length > this.#size) this.write(new Uint8Array(length - this.#size), this.#size);
    this.written = Date.now();
    this.#bytes.fill(0, length, this.#size);
    this.#size = length;
  }
}

/** A folder in memory. */
export class MemoryFolder {
  readonly kind = "folder";
  readonly ino = ++count;
  readonly made = Date.now();
  written = this.made;
  readonly size = 0;
  readonly entries = new Map<string, MemoryFile | MemoryFolder>();
}
