import { joinBytes, utf8Bytes } from "#platform/bytes";
import { crc32 } from "#platform/zip";

/** A file of an archive. */
export interface ZippedFile {
  /** Path within the archive, with `/`. */
  name: string;
  data: Uint8Array;
  /** The same, by DEFLATE. */
  packed: Uint8Array;
  /** May be run. */
  executable?: boolean;
}

const DAY_ONE = 0x21; // 1980-01-01, the first day that zip knows

/** A part of an archive by its numbers, each with its place and its width in bytes. */
function part(length: number, numbers: readonly (readonly [number, 2 | 4, number])[]): Uint8Array {
  const view = new DataView(new ArrayBuffer(length));
  for (const [at, width, value] of numbers) {
    if (width === 2) view.setUint16(at, value, true);
    else view.setUint32(at, value, true);
  }
  return new Uint8Array(view.buffer);
}

/** A zip whose bytes depend on nothing but names and contents. */
export function zipOfPacked(files: readonly ZippedFile[]): Uint8Array<ArrayBuffer> {
  const parts: Uint8Array[] = [];
  const directory: Uint8Array[] = [];
  let at = 0;
  const sorted = [...files].sort((a, b) => (a.name < b.name ? -1 : 1));
  for (const { name, data, packed, executable = false } of sorted) {
    const nameBytes = utf8Bytes(name);
    const head = part(30, [
      [0, 4, 0x04034b50],
      [4, 2, 20],
      [6, 2, 0x0800], // names are UTF-8
      [8, 2, 8],
      [12, 2, DAY_ONE],
      [14, 4, crc32(data)],
      [18, 4, packed.length],
      [22, 4, data.length],
      [26, 2, nameBytes.length],
    ]);
    const entry = part(46, [
      [0, 4, 0x02014b50],
      [4, 2, 0x0314], // made on Unix, so that modes count
      [38, 4, ((0o100000 | (executable ? 0o755 : 0o644)) << 16) >>> 0],
      [42, 4, at],
    ]);
    entry.set(head.subarray(4, 30), 6);
    parts.push(head, nameBytes, packed);
    directory.push(entry, nameBytes);
    at += head.length + nameBytes.length + packed.length;
  }
  const entries = joinBytes(directory);
  const end = part(22, [
    [0, 4, 0x06054b50],
    [8, 2, sorted.length],
    [10, 2, sorted.length],
    [12, 4, entries.length],
    [16, 4, at],
  ]);
  return joinBytes([...parts, entries, end]);
}
