import { crc32, deflateRawSync } from "node:zlib";

/** A file of a package. */
export interface PackedFile {
  /** Path within the package, with `/`. */
  name: string;
  data: Uint8Array;
  /** May be run. */
  executable?: boolean;
}

const DAY_ONE = 0x21; // 1980-01-01, the first day that zip knows

/**
 * A zip whose bytes depend on nothing but names and contents: the same job is the same package, which a
 * cluster that has it is not sent again.
 */
export function zipOf(files: readonly PackedFile[]): Buffer {
  const parts: Buffer[] = [];
  const directory: Buffer[] = [];
  let at = 0;
  const sorted = [...files].sort((a, b) => (a.name < b.name ? -1 : 1));
  for (const { name, data, executable = false } of sorted) {
    const nameBytes = Buffer.from(name);
    const packed = deflateRawSync(data);
    const head = Buffer.alloc(30);
    head.writeUInt32LE(0x04034b50, 0);
    head.writeUInt16LE(20, 4);
    head.writeUInt16LE(0x0800, 6); // names are UTF-8
    head.writeUInt16LE(8, 8);
    head.writeUInt16LE(DAY_ONE, 12);
    head.writeUInt32LE(crc32(data), 14);
    head.writeUInt32LE(packed.length, 18);
    head.writeUInt32LE(data.length, 22);
    head.writeUInt16LE(nameBytes.length, 26);
    const entry = Buffer.alloc(46);
    entry.writeUInt32LE(0x02014b50, 0);
    entry.writeUInt16LE(0x0314, 4); // made on Unix, so that modes count
    head.copy(entry, 6, 4, 30);
    entry.writeUInt32LE(((0o100000 | (executable ? 0o755 : 0o644)) << 16) >>> 0, 38);
    entry.writeUInt32LE(at, 42);
    parts.push(head, nameBytes, packed);
    directory.push(entry, nameBytes);
    at += head.length + nameBytes.length + packed.length;
  }
  const entries = Buffer.concat(directory);
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50, 0);
  end.writeUInt16LE(sorted.length, 8);
  end.writeUInt16LE(sorted.length, 10);
  end.writeUInt32LE(entries.length, 12);
  end.writeUInt32LE(at, 16);
  return Buffer.concat([...parts, entries, end]);
}
