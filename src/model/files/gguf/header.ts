import { utf8Text } from "#platform/bytes";
import { readSync } from "#platform/files";
import { shapeSize } from "../../transformer/weights.js";
import { tensorTypes } from "./tensor-types.js";

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

/** A value of a GGUF file's metadata. 64-bit integers are numbers, exact up to 2^53. */
export type GgufValue = number | boolean | string | readonly GgufValue[];

/** What a GGUF file says beside its tensors, by key. */
export type GgufMetadata = ReadonlyMap<string, GgufValue>;

/** The numbers of value types in a file. */
export const valueTypes = {
  ...{ uint8: 0, int8: 1, uint16: 2, int16: 3, uint32: 4, int32: 5, float32: 6 },
  ...{ bool: 7, string: 8, array: 9, uint64: 10, int64: 11, float64: 12 },
} as const;

type Scalar = (cursor: HeaderCursor) => number | boolean | string;

const scalars: Readonly<Record<number, { bytes: number; read: Scalar }>> = {
  [valueTypes.uint8]: { bytes: 1, read: (c) => c.view(1).getUint8(0) },
  [valueTypes.int8]: { bytes: 1, read: (c) => c.view(1).getInt8(0) },
  [valueTypes.uint16]: { bytes: 2, read: (c) => c.view(2).getUint16(0, true) },
  [valueTypes.int16]: { bytes: 2, read: (c) => c.view(2).getInt16(0, true) },
  [valueTypes.uint32]: { bytes: 4, read: (c) => c.u32() },
  [valueTypes.int32]: { bytes: 4, read: (c) => c.view(4).getInt32(0, true) },
  [valueTypes.float32]: { bytes: 4, read: (c) => c.view(4).getFloat32(0, true) },
  [valueTypes.bool]: { bytes: 1, read: (c) => c.bytes(1)[0] !== 0 },
  [valueTypes.string]: { bytes: 8, read: (c) => c.text() },
  [valueTypes.uint64]: { bytes: 8, read: (c) => Number(c.view(8).getBigUint64(0, true)) },
  [valueTypes.int64]: { bytes: 8, read: (c) => Number(c.view(8).getBigInt64(0, true)) },
  [valueTypes.float64]: { bytes: 8, read: (c) => c.view(8).getFloat64(0, true) },
};

const deepest = 4;

/** Reads one value and its type. */
function readValue(
  cursor: HeaderCursor,
  key: string,
  type: number = cursor.u32(),
  depth = 0,
): GgufValue {
  const scalar = scalars[type];
  if (scalar) return scalar.read(cursor);
  if (type !== valueTypes.array) {
    return cursor.refuse(`the type of ${key} must be a number from 0 to 12`, type);
  }
  if (depth === deepest) cursor.refuse(`lists must lie at most ${deepest} deep in ${key}`, "more");
  const of = cursor.u32();
  const count = cursor.size(`the length of ${key}`);
  const least = count * (scalars[of]?.bytes ?? 12);
  if (cursor.position + least > cursor.fileSize) {
    cursor.refuse(`${key} must fit into the file's ${cursor.fileSize} bytes`, `${count} values`);
  }
  const values: GgufValue[] = [];
  for (let i = 0; i < count; i++) values.push(readValue(cursor, key, of, depth + 1));
  return values;
}

/** One tensor's entry in a GGUF header. */
export interface GgufTensor {
  /** The type by ggml's name: F32, Q4_K, ... */
  readonly type: string;
  /** Outermost first, as everywhere here; a GGUF file has them the other way round. */
  readonly shape: readonly number[];
  /** Where its bytes lie in the file. */
  readonly start: number;
  readonly bytes: number;
}

/** What stands before the tensors of a GGUF file. */
interface GgufHeader {
  readonly metadata: GgufMetadata;
  readonly tensors: ReadonlyMap<string, GgufTensor>;
}

const mostDimensions = 4;
const valuesPerByte = 8; // at most: ternary types take more than a bit a value

function readMetadata(cursor: HeaderCursor, count: number): Map<string, GgufValue> {
  const metadata = new Map<string, GgufValue>();
  for (let i = 0; i < count; i++) {
    const key = cursor.text();
    if (metadata.has(key)) cursor.refuse("keys must differ", `${key} twice`);
    metadata.set(key, readValue(cursor, key));
  }
  return metadata;
}

function readEntry(cursor: HeaderCursor): [string, GgufTensor] {
  const name = cursor.text();
  const dimensions = cursor.u32();
  if (dimensions > mostDimensions) {
    cursor.refuse(`${name} must have at most ${mostDimensions} dimensions`, dimensions);
  }
  const shape = Array.from({ length: dimensions }, () =>
    cursor.size(`a size of ${name}`, valuesPerByte),
  );
  const number = cursor.u32();
  const start = cursor.size(`the place of ${name}`);
  const type = tensorTypes.get(number);
  if (!type) return cursor.refuse(`the type of ${name} must be a known one`, `number ${number}`);
  if ((shape[0] ?? 1) % type.values !== 0) {
    const rule = `rows of ${name} must be a multiple of ${type.values}, as ${type.name} packs them`;
    cursor.refuse(rule, shape[0]);
  }
  const bytes = (shapeSize(shape) / type.values) * type.bytes;
  return [name, { type: type.name, shape: shape.reverse(), start, bytes }];
}

/** Reads and checks everything before the tensors. */
export function readHeader(cursor: HeaderCursor): GgufHeader {
  if (cursor.fileSize < 24) {
    cursor.refuse("the file must hold a header, in bytes", cursor.fileSize);
  }
  const magic = String.fromCharCode(...cursor.bytes(4));
  if (magic !== "GGUF") cursor.refuse('it must begin with "GGUF"', JSON.stringify(magic));
  const version = cursor.u32();
  if (version !== 2 && version !== 3) {
    const swapped = version !== 0 && (version & 0xffff) === 0;
    cursor.refuse("the version must be 2 or 3", swapped ? "bytes in big-endian order" : version);
  }
  const tensorCount = cursor.size("the number of tensors");
  const metadata = readMetadata(cursor, cursor.size("the number of keys"));
  const alignment = metadata.get("general.alignment") ?? 32;
  if (typeof alignment !== "number" || alignment < 1 || alignment % 8 !== 0) {
    return cursor.refuse("general.alignment must be a multiple of 8", alignment);
  }
  const entries: [string, GgufTensor][] = [];
  for (let i = 0; i < tensorCount; i++) entries.push(readEntry(cursor));
  const dataStart = Math.ceil(cursor.position / alignment) * alignment;
  const tensors = new Map<string, GgufTensor>();
  let end = 0;
  for (const [name, tensor] of entries.sort(([, a], [, b]) => a.start - b.start)) {
    if (tensors.has(name)) cursor.refuse("tensors' names must differ", `${name} twice`);
    if (tensor.start % alignment !== 0) {
      cursor.refuse(`${name} must begin at a multiple of ${alignment}`, tensor.start);
    }
    if (tensor.start < end) cursor.refuse(`${name} must not overlap another tensor`, tensor.start);
    end = tensor.start + tensor.bytes;
    tensors.set(name, { ...tensor, start: dataStart + tensor.start });
  }
  if (dataStart + end > cursor.fileSize) {
    cursor.refuse(
      `the file must hold ${dataStart + end} bytes (it may be truncated)`,
      cursor.fileSize,
    );
  }
  return { metadata, tensors };
}
