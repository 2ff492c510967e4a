import { utf8Text } from "#platform/bytes";
import { readSync } from "#platform/files";

const pieceSize = 1 << 20;

/** Reads a file's numbers and texts from its beginning on, a piece of it in memory at a time. */
export class HeaderCursor {
  #piece = new Uint8Array();
  #at = 0;
  #pieceStart = 0;

  constructor(
    readonly path: string,
    readonly fd: number,
    readonly fileSize: number,
  ) {}

  /** Where the next byte lies in the file. */
  get position(): number {
    return this.#pieceStart + this.#at;
  }

  refuse(rule: string, got: unknown): never {
    throw new SyntaxError(`Cannot read GGUF ${this.path}: ${rule}, got ${String(got)}`);
  }

  /** The next bytes; only until the next call. */
  bytes(count: number): Uint8Array {
    if (this.#at + count > this.#piece.length) this.#fill(count);
    this.#at += count;
    return this.#piece.subarray(this.#at - count, this.#at);
  }

  /** The next bytes, for numbers. */
  view(count: number): DataView {
    const bytes = this.bytes(count);
    return new DataView(bytes.buffer, bytes.byteOffset, count);
  }

  u32 = (): number => this.view(4).getUint32(0, true);

  /** A 64-bit count or position, of things that take a byte or, where it is said, less. */
  size(what: string, perByte = 1): number {
    const value = this.view(8).getBigUint64(0, true);
    if (value > BigInt(perByte * this.fileSize)) {
      this.refuse(`${what} must be at most the file's ${this.fileSize} bytes`, value);
    }
    return Number(value);
  }

  text = (): string => utf8Text(this.bytes(this.size("a text's length")));

  #fill(count: number): void {
    const start = this.position;
    if (start + count > this.fileSize) {
      this.refuse(`the file must hold ${start + count} bytes (it may be truncated)`, this.fileSize);
    }
    const piece = new Uint8Array(Math.min(Math.max(count, pieceSize), this.fileSize - start));
    for (let done = 0; done < piece.length;) {
      const read = readSync(this.fd, piece, done, piece.length - done, start + done);
      if (read === 0) this.refuse(`the file must hold ${start + count} bytes`, start + done);
      done += read;
    }
    [this.#piece, this.#at, this.#pieceStart] = [piece, 0, start];
  }
}
