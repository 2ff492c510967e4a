import { shapeSize } from "../../transformer/weights.js";
import type { HeaderCursor } from "./header-cursor.js";
import { readValue, type GgufMetadata, type GgufValue } from "./metadata.js";
import { tensorTypes } from "./tensor-types.js";

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
