import { utf8Text } from "#platform/bytes";
import {
  closeSync,
  fstatSync,
  mkdirSync,
  openSync,
  readSync,
  statIfThereSync,
  writeSync,
} from "#platform/files";
import { dirname } from "#platform/path";

interface Place {
  offset: number;
  length: number;
}

/**
 * A key-value file that several processes may use at once: every write appends one line, the last
 * line of a key counts, and each process keeps an index of where lines are.
 *
 * A write costs the same whatever the file holds. A line that a killed process left half written is
 * skipped. Keys are strings, values JSON.
 */
export class AppendStore<T> {
  readonly path: string;
  /** Lines that could not be read. */
  damaged = 0;
  #fd: number;
  #inode = 0;
  #read = 0;
  readonly #index = new Map<string, Place>();

  constructor(path: string) {
    this.path = path;
    mkdirSync(dirname(path), { recursive: true });
    this.#fd = openSync(path, "a+");
    this.#inode = fstatSync(this.#fd).ino;
    this.#catchUp();
  }

  get size(): number {
    this.#refresh();
    return this.#index.size;
  }

  keys(): IterableIterator<string> {
    this.#refresh();
    return this.#index.keys();
  }

  get(key: string): T | undefined {
    let place = this.#index.get(key);
    this.#refresh();
    place = this.#index.get(key);
    if (!place) return undefined;
    const bytes = new Uint8Array(place.length);
    readSync(this.#fd, bytes, 0, place.length, place.offset);
    return (JSON.parse(utf8Text(bytes)) as [string, T])[1];
  }

  set(key: string, value: T): void {
    this.#refresh();
    // The line break in front ends a line that somebody else left half written.
    const line = new TextEncoder().encode(`\n${JSON.stringify([key, value])}\n`);
    const written = writeSync(this.#fd, line);
    if (written !== line.length) {
      throw new Error(
        `Cannot write to ${this.path}: all ${line.length} bytes must fit, got ${written} written`,
      );
    }
    this.#catchUp();
  }

  close(): void {
    if (this.#fd >= 0) closeSync(this.#fd);
    this.#fd = -1;
  }

  /** Takes in what others appended, or starts over when the file was replaced. */
  #refresh(): void {
    const now = statIfThereSync(this.path);
    if (now && now.ino === this.#inode && now.size >= this.#read) {
      if (now.size > this.#read) this.#catchUp();
      return;
    }
    closeSync(this.#fd);
    this.#fd = openSync(this.path, "a+");
    this.#inode = fstatSync(this.#fd).ino;
    this.#read = 0;
    this.#index.clear();
    this.#catchUp();
  }

  /** Reads from where it stopped to the last complete line. */
  #catchUp(): void {
    const chunk = new Uint8Array(1 << 20);
    for (;;) {
      const count = readSync(this.#fd, chunk, 0, chunk.length, this.#read);
      const end = chunk.subarray(0, count).lastIndexOf(10) + 1;
      if (end > 0) {
        this.#take(chunk.subarray(0, end), this.#read);
        this.#read += end;
      } else if (count === chunk.length) {
        this.#takeLongLine();
      } else return;
    }
  }

  /** One line longer than the reading buffer. */
  #takeLongLine(): void {
    const { size } = fstatSync(this.#fd);
    const rest = new Uint8Array(size - this.#read);
    const count = readSync(this.#fd, rest, 0, rest.length, this.#read);
    const end = rest.subarray(0, count).lastIndexOf(10) + 1;
    if (end === 0)
      throw new Error(`Cannot read ${this.path}: lines must end, got one that does not`);
    this.#take(rest.subarray(0, end), this.#read);
    this.#read += end;
  }

  #take(bytes: Uint8Array, base: number): void {
    for (let from = 0; from < bytes.length;) {
      const end = bytes.indexOf(10, from);
      if (end > from) this.#takeLine(bytes.subarray(from, end), base + from);
      from = end + 1;
    }
  }

  #takeLine(line: Uint8Array, offset: number): void {
    try {
      const pair = JSON.parse(utf8Text(line)) as unknown;
      if (Array.isArray(pair) && typeof pair[0] === "string") {
        this.#index.set(pair[0], { offset, length: line.length });
        return;
      }
    } catch {
      // Counted below: a killed writer's half line is expected, and the rest of the file is good.
    }
    this.damaged++;
  }
}
