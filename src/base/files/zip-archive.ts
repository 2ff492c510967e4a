import { joinBytes, utf8Text } from "#platform/bytes";
import { type FileHandle, open } from "#platform/files";
import { crc32, inflated, unzstd } from "#platform/zip";

/** A file inside a zip archive. */
export interface ZipEntry {
  readonly name: string;
  /** Where its bytes begin in the archive. */
  readonly start: number;
  /** How many bytes they are there: fewer than the file's where it is compressed. */
  readonly packed: number;
  /** How it is compressed: a number of the zip format, 0 for not at all. */
  readonly method: number;
  readonly size: number;
  readonly crc: number;
}

const pieceSize = 1 << 24;
const largestDirectory = 1 << 26;

const [stored, deflate, zstd] = [0, 8, 93];
/** Zstandard is unpacked at once, so that a file's size is the memory it takes. */
const largestZstd = 1 << 29;

/** Fills a buffer from a position; one read call need not return all that was asked for. */
async function readFully(handle: FileHandle, into: Uint8Array, from: number): Promise<void> {
  let done = 0;
  while (done < into.length) {
    const length = Math.min(into.length - done, 1 << 30);
    const { bytesRead } = await handle.read(into, done, length, from + done);
    if (bytesRead === 0)
      throw new SyntaxError(`Cannot read a zip: it must not end early, got ${from + done} bytes`);
    done += bytesRead;
  }
}

interface OpenOptions {
  /** Take compressed files too: DEFLATE and Zstandard. Default: false. */
  compressed?: boolean;
  /** Which archives are meant, for the error about a file that is none: ", as NAME writes them". */
  meant?: string;
}

/**
 * A zip archive of stored files, as PyTorch writes them, also of more than 4 GB. Files are read by
 * position and never unpacked to disk. Encrypted, doubled or overlapping files and names that leave the
 * archive are refused, and so are compressed ones unless they are asked for.
 */
export class ZipArchive {
  private readonly intact = new Map<string, Promise<void>>();

  private constructor(
    readonly path: string,
    private readonly handle: FileHandle,
    readonly entries: ReadonlyMap<string, ZipEntry>,
  ) {}

  static async open(path: string, options: OpenOptions = {}): Promise<ZipArchive> {
    const handle = await open(path, "r");
    try {
      return new ZipArchive(path, handle, await readDirectory(path, handle, options));
    } catch (error) {
      await handle.close();
      throw error;
    }
  }

  /** A whole file, checked against its checksum. */
  async read(entry: ZipEntry): Promise<Uint8Array> {
    const bytes = new Uint8Array(entry.size);
    await readFully(this.handle, bytes, entry.start);
    this.checkSum(entry, crc32(bytes));
    return bytes;
  }

  /** Some bytes of a file. The first time its checksum is checked over all of it. */
  async readRange(entry: ZipEntry, from: number, count: number): Promise<Uint8Array> {
    if (!(from >= 0 && count >= 0 && from + count <= entry.size)) {
      throw new RangeError(
        `Cannot read ${this.path}: ${entry.name} has ${entry.size} bytes, got ${count} from ${from}`,
      );
    }
    if (from === 0 && count === entry.size) return this.read(entry);
    let intact = this.intact.get(entry.name);
    if (!intact) {
      intact = this.verify(entry);
      this.intact.set(entry.name, intact);
    }
    await intact;
    const bytes = new Uint8Array(count);
    await readFully(this.handle, bytes, entry.start + from);
    return bytes;
  }

  /** A file's bytes from first to last, compressed or not; its checksum is checked at the end. */
  async *pieces(entry: ZipEntry): AsyncGenerator<Uint8Array> {
    const { handle } = this;
    const packed = async function* () {
      for (let at = 0; at < entry.packed; at += pieceSize) {
        const piece = new Uint8Array(Math.min(pieceSize, entry.packed - at));
        await readFully(handle, piece, entry.start + at);
        yield piece;
      }
    };
    const bytes = this.unpacked(entry, packed());
    let [done, sum] = [0, 0];
    for await (const piece of bytes) {
      done += piece.length;
      if (done > entry.size) break;
      sum = crc32(piece, sum);
      yield piece;
    }
    if (done !== entry.size) {
      throw new SyntaxError(
        `Cannot read ${this.path}: ${entry.name} must have ${entry.size} bytes, got ${done > entry.size ? "more" : done}`,
      );
    }
    this.checkSum(entry, sum);
  }

  async close(): Promise<void> {
    await this.handle.close();
  }

  private unpacked(entry: ZipEntry, packed: AsyncGenerator<Uint8Array>): AsyncIterable<Uint8Array> {
    if (entry.method === zstd) return this.ofZstd(entry, packed);
    return entry.method === deflate ? inflated(packed) : packed;
  }

  private async *ofZstd(
    { name, size }: ZipEntry,
    packed: AsyncIterable<Uint8Array>,
  ): AsyncGenerator<Uint8Array> {
    const pieces: Uint8Array[] = [];
    for await (const piece of packed) pieces.push(piece);
    try {
      yield (
        unzstd?.(joinBytes(pieces), size) ??
        (await import("hyparquet-compressors")).decompressZstd(
          joinBytes(pieces),
          new Uint8Array(size),
        )
      );
    } catch (error) {
      throw new SyntaxError(
        `Cannot read ${this.path}: ${name} must be Zstandard of ${size} bytes, got ${(error as Error).message}`,
        { cause: error },
      );
    }
  }

  private async verify(entry: ZipEntry): Promise<void> {
    let sum = 0;
    const piece = new Uint8Array(Math.min(pieceSize, entry.size));
    for (let at = 0; at < entry.size; at += pieceSize) {
      const part = piece.subarray(0, Math.min(pieceSize, entry.size - at));
      await readFully(this.handle, part, entry.start + at);
      sum = crc32(part, sum);
    }
    this.checkSum(entry, sum);
  }

  private checkSum(entry: ZipEntry, sum: number): void {
    if (sum === entry.crc) return;
    throw new SyntaxError(
      `Cannot read ${this.path}: ${entry.name} must have checksum ${entry.crc.toString(16)}, got ${sum.toString(16)} (the file is damaged)`,
    );
  }
}

const view = (bytes: Uint8Array) => new DataView(bytes.buffer, bytes.byteOffset, bytes.length);

async function readDirectory(
  path: string,
  handle: FileHandle,
  { compressed = false, meant = "" }: OpenOptions,
): Promise<Map<string, ZipEntry>> {
  const refuse = (rule: string, got: unknown): never => {
    throw new SyntaxError(`Cannot read ${path}: ${rule}, got ${got}`);
  };
  const fileSize = (await handle.stat()).size;
  const bytes = async (from: number, count: number) => {
    if (!(from >= 0 && count >= 0 && from + count <= fileSize)) {
      refuse(`its parts must lie within its ${fileSize} bytes`, `${count} bytes from ${from}`);
    }
    const into = new Uint8Array(count);
    await readFully(handle, into, from);
    return view(into);
  };

  const first = fileSize >= 4 ? (await bytes(0, 4)).getUint32(0, true) : 0;
  if (first !== 0x04034b50) {
    refuse(`it must be a zip archive${meant}`, `${fileSize} bytes that begin otherwise`);
  }
  const tailSize = Math.min(fileSize, 65_557);
  const tail = await bytes(fileSize - tailSize, tailSize);
  let end = tailSize - 22;
  while (end >= 0 && tail.getUint32(end, true) !== 0x06054b50) end--;
  if (end < 0) refuse("it must end with a zip directory (it may be truncated)", "none");
  const endAt = fileSize - tailSize + end;
  let count = tail.getUint16(end + 10, true);
  let size = tail.getUint32(end + 12, true);
  let start = tail.getUint32(end + 16, true);
  if (tail.getUint16(end + 4, true) !== 0) refuse("it must be one volume", "several");
  if (count === 0xffff || size === 0xffffffff || start === 0xffffffff) {
    const locator = await bytes(endAt - 20, 20);
    if (locator.getUint32(0, true) !== 0x07064b50) refuse("zip64 must have its locator", "none");
    const large = await bytes(Number(locator.getBigUint64(8, true)), 56);
    if (large.getUint32(0, true) !== 0x06064b50) refuse("zip64 must have its directory", "none");
    count = Number(large.getBigUint64(32, true));
    size = Number(large.getBigUint64(40, true));
    start = Number(large.getBigUint64(48, true));
  }
  if (size > largestDirectory)
    refuse(`its directory must have at most ${largestDirectory} bytes`, size);
  if (start + size > endAt) refuse("its directory must lie before its end", start + size);
  const directory = await bytes(start, size);

  const entries = new Map<string, ZipEntry>();
  const taken: [number, number][] = [];
  let at = 0;
  for (let i = 0; i < count; i++) {
    if (at + 46 > size || directory.getUint32(at, true) !== 0x02014b50) {
      refuse(`its directory must hold ${count} files`, i);
    }
    const nameLength = directory.getUint16(at + 28, true);
    const extraLength = directory.getUint16(at + 30, true);
    const next = at + 46 + nameLength + extraLength + directory.getUint16(at + 32, true);
    if (next > size) refuse("a directory entry must fit", next - size);
    const text = (buffer: DataView, from: number) =>
      utf8Text(new Uint8Array(buffer.buffer, buffer.byteOffset + from, nameLength));
    const name = text(directory, at + 46);
    if (name === "" || /\\|\0|^\/|^[a-z]:|(^|\/)\.\.?(\/|$)/i.test(name)) {
      refuse("names must stay within the archive", JSON.stringify(name));
    }
    if (entries.has(name)) refuse("names must differ", JSON.stringify(name));
    if (directory.getUint16(at + 8, true) & 0x2041)
      refuse(`${name} must not be encrypted`, "it is");
    const method = directory.getUint16(at + 10, true);
    const methods = compressed ? [stored, deflate, zstd] : [stored];
    if (!methods.includes(method)) {
      const how = compressed ? ", by DEFLATE (8) or Zstandard (93)" : "";
      refuse(`${name} must be stored uncompressed (method 0)${how}`, method);
    }
    const large = zip64Fields(directory, at, nameLength, extraLength);
    if (method === stored && large.packed !== large.size)
      refuse(`${name} must be as long as stored`, large.packed);
    if (method === zstd && large.size > largestZstd)
      refuse(`${name} must have at most ${largestZstd} bytes where it is Zstandard`, large.size);

    const header = await bytes(large.offset, 30 + nameLength);
    if (header.getUint32(0, true) !== 0x04034b50 || header.getUint16(26, true) !== nameLength) {
      refuse(`${name} must have a header where the directory says`, large.offset);
    }
    if (text(header, 30) !== name)
      refuse(`${name} must be called so by its header`, text(header, 30));
    const dataStart = large.offset + 30 + nameLength + header.getUint16(28, true);
    if (dataStart + large.packed > start)
      refuse(`${name} must end before the directory`, large.packed);
    taken.push([large.offset, dataStart + large.packed]);
    const crc = directory.getUint32(at + 16, true);
    const placed = { start: dataStart, packed: large.packed, size: large.size };
    entries.set(name, { name, ...placed, method, crc });
    at = next;
  }
  taken.sort(([a], [b]) => a - b);
  for (let i = 1; i < taken.length; i++) {
    if (taken[i]![0] < taken[i - 1]![1]) refuse("files must not overlap", `one at ${taken[i]![0]}`);
  }
  return entries;
}

/** Sizes and position of an entry, from its extra field where 32 bits do not hold them. */
function zip64Fields(directory: DataView, at: number, nameLength: number, extraLength: number) {
  let packed = directory.getUint32(at + 20, true);
  let size = directory.getUint32(at + 24, true);
  let offset = directory.getUint32(at + 42, true);
  const end = at + 46 + nameLength + extraLength;
  for (let field = at + 46 + nameLength; field + 4 <= end;) {
    const length = directory.getUint16(field + 2, true);
    if (directory.getUint16(field, true) === 1) {
      let value = field + 4;
      const limit = Math.min(end, value + length);
      const wide = (short: number) => {
        if (short !== 0xffffffff || value + 8 > limit) return short;
        value += 8;
        return Number(directory.getBigUint64(value - 8, true));
      };
      size = wide(size);
      packed = wide(packed);
      offset = wide(offset);
    }
    field += 4 + length;
  }
  return { packed, size, offset };
}
