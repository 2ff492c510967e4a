import type { HeaderCursor } from "./header-cursor.js";

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
export function readValue(
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
