import { joinBytes } from "#platform/bytes";
import type { FileHandle } from "#platform/files";
import { shapeSize } from "../../transformer/weights.js";
import { type StagedFile, stageFile } from "../../../../common/files/durable.js";
import { valueTypes } from "./header.js";
import { quantize, type PackedType } from "./quantize.js";
import { tensorTypeNumber, tensorTypes } from "./tensor-types.js";

/** A value of the metadata with the type it is written in. */
export type WrittenValue =
  | { type: "uint32" | "int32" | "float32"; value: number }
  | { type: "bool"; value: boolean }
  | { type: "string"; value: string }
  | { type: "strings"; value: readonly string[] }
  | { type: "int32s"; value: readonly number[] }
  | { type: "float32s"; value: readonly number[] };

/** A tensor to write, by its name in the file. Its values are asked for when their turn comes. */
export interface GgufTensorSource {
  name: string;
  /** Outermost first. */
  shape: readonly number[];
  type: PackedType;
  values(): Float32Array | Promise<Float32Array>;
}

const alignment = 32;
const pieceSize = 1 << 22; // values packed at a time

const aligned = (bytes: number) => Math.ceil(bytes / alignment) * alignment;

const u32 = (value: number) => new Uint8Array(Uint32Array.of(value).buffer);
const u64 = (value: number) => new Uint8Array(BigUint64Array.of(BigInt(value)).buffer);
const f32 = (value: number) => new Uint8Array(Float32Array.of(value).buffer);
const text = (value: string) => {
  const bytes = new TextEncoder().encode(value);
  return joinBytes([u64(bytes.length), bytes]);
};

function valueBytes(written: WrittenValue): Uint8Array {
  const { type, value } = written;
  const list = (of: number, items: Uint8Array[]) =>
    joinBytes([u32(valueTypes.array), u32(of), u64(items.length), ...items]);
  if (type === "strings") return list(valueTypes.string, value.map(text));
  if (type === "int32s") return list(valueTypes.int32, value.map(u32));
  if (type === "float32s") return list(valueTypes.float32, value.map(f32));
  const number = u32(valueTypes[type]);
  if (type === "string") return joinBytes([number, text(value)]);
  if (type === "bool") return joinBytes([number, Uint8Array.of(value ? 1 : 0)]);
  const single = type === "float32" ? f32(value) : u32(value);
  return joinBytes([number, single]);
}

/** How many bytes a tensor takes. */
function packedBytes({ name, shape, type }: GgufTensorSource): number {
  const packed = [...tensorTypes.values()].find((one) => one.name === type)!;
  if (shape.at(-1)! % packed.values !== 0) {
    throw new RangeError(
      `Cannot write GGUF: rows of ${name} must be a multiple of ${packed.values} for ${type}, got ${shape.at(-1)}`,
    );
  }
  return (shapeSize(shape) / packed.values) * packed.bytes;
}

async function writeTensor(file: FileHandle, tensor: GgufTensorSource): Promise<void> {
  const values = await tensor.values();
  if (values.length !== shapeSize(tensor.shape)) {
    throw new RangeError(
      `Cannot write GGUF: ${tensor.name} must have ${shapeSize(tensor.shape)} values, got ${values.length}`,
    );
  }
  for (let at = 0; at < values.length; at += pieceSize) {
    await file.writeFile(quantize(tensor.type, values.subarray(at, at + pieceSize)));
  }
}

/** Writes a GGUF file, version 3, that waits for its `commit()`. */
export async function stageGguf(
  path: string,
  metadata: ReadonlyMap<string, WrittenValue>,
  tensors: readonly GgufTensorSource[],
): Promise<StagedFile> {
  const parts: Uint8Array[] = [
    new TextEncoder().encode("GGUF"),
    u32(3),
    u64(tensors.length),
    u64(metadata.size),
  ];
  for (const [key, value] of metadata) parts.push(text(key), valueBytes(value));
  const sizes = tensors.map(packedBytes);
  let start = 0;
  for (const [i, { name, shape, type }] of tensors.entries()) {
    const sizesInside = [...shape].reverse().map(u64);
    parts.push(text(name), u32(shape.length), ...sizesInside);
    parts.push(u32(tensorTypeNumber(type)), u64(start));
    start += aligned(sizes[i]!);
  }
  const header = joinBytes(parts);
  const gap = (bytes: number) => new Uint8Array(aligned(bytes) - bytes);
  return stageFile(path, async (file) => {
    await file.writeFile(header);
    await file.writeFile(gap(header.length));
    for (const [i, tensor] of tensors.entries()) {
      await writeTensor(file, tensor);
      await file.writeFile(gap(sizes[i]!));
    }
  });
}
