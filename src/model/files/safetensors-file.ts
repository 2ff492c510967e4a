import { utf8Text } from "#platform/bytes";
import { type FileHandle, open } from "#platform/files";
import { shapeSize } from "../transformer/weights.js";
import { unpackHalf } from "./half.js";
import { readFully, readFullySync } from "./read-file.js";
import type { StoredValues, WeightFile } from "./weight-file.js";

/** One tensor's entry in a safetensors header; offsets count from the end of the header. */
interface TensorEntry {
  dtype: string;
  shape: number[];
  start: number;
  end: number;
}

const bytesOf: Record<string, number> = {
  ...{ BOOL: 1, U8: 1, I8: 1, F8_E4M3: 1, F8_E5M2: 1 },
  ...{ U16: 2, I16: 2, F16: 2, BF16: 2, U32: 4, I32: 4, F32: 4, U64: 8, I64: 8, F64: 8 },
};

/** Checks a header against the format's rules, which leave no byte unexplained and none shared. */
function parseSafetensorsHeader(path: string, text: string, dataBytes: number) {
  const refuse = (rule: string, got: unknown): never => {
    throw new SyntaxError(
      `Cannot read safetensors ${path}: ${rule}, got ${JSON.stringify(got)?.slice(0, 200)}`,
    );
  };
  let header: unknown;
  try {
    header = JSON.parse(text);
  } catch {
    refuse("the header must be JSON", text.slice(0, 40));
  }
  if (header === null || typeof header !== "object" || Array.isArray(header)) {
    return refuse("the header must be an object", header);
  }
  const { __metadata__: metadata = {}, ...entries } = header as Record<string, unknown>;
  const tensors = new Map<string, TensorEntry>();
  for (const [name, value] of Object.entries(entries)) {
    const { dtype, shape, data_offsets: offsets } = (value ?? {}) as Record<string, unknown>;
    const natural = (n: unknown) => Number.isSafeInteger(n) && (n as number) >= 0;
    if (typeof dtype !== "string" || !(dtype in bytesOf)) {
      refuse(`the dtype of ${name} must be a known one`, dtype);
    }
    if (!Array.isArray(shape) || !shape.every(natural)) {
      refuse(`the shape of ${name} must be a list of sizes`, shape);
    }
    if (!Array.isArray(offsets) || offsets.length !== 2 || !offsets.every(natural)) {
      return refuse(`data_offsets of ${name} must be two positions`, offsets);
    }
    const [start, end] = offsets as [number, number];
    const bytes = shapeSize(shape as number[]) * bytesOf[dtype as string]!;
    if (end - start !== bytes) {
      refuse(`${name} must have ${bytes} bytes for its shape and dtype`, end - start);
    }
    tensors.set(name, { dtype: dtype as string, shape: shape as number[], start, end });
  }
  let position = 0;
  const inOrder = [...tensors].sort(([, a], [, b]) => a.start - b.start || a.end - b.end);
  for (const [name, { start, end }] of inOrder) {
    const relation = start < position ? "overlap" : "leave a gap after";
    if (start !== position) refuse(`${name} must not ${relation} the tensor before it`, start);
    position = end;
  }
  if (position !== dataBytes) {
    refuse(`the file must hold ${position} bytes of tensors (it may be truncated)`, dataBytes);
  }
  return { tensors, metadata: metadata as Record<string, string> };
}

const largestHeader = 100_000_000; // the limit of the reference implementation
const pieceSize = 1 << 18; // values converted at a time: what a second-level cache holds

/** A safetensors file, opened: its header is read and checked, tensors are read one at a time. */
export class SafetensorsFile implements WeightFile {
  readonly format = "safetensors";

  private constructor(
    readonly path: string,
    readonly tensors: ReadonlyMap<string, TensorEntry>,
    readonly metadata: Readonly<Record<string, string>>,
    readonly handle: FileHandle,
    readonly dataStart: number,
  ) {}

  /** Opens a file and checks its header; nothing of the tensors is read yet. */
  static async open(path: string): Promise<SafetensorsFile> {
    const handle = await open(path, "r");
    try {
      const fileSize = (await handle.stat()).size;
      const source = { format: "safetensors", path, handle };
      const refuse = (rule: string, got: number): never => {
        throw new SyntaxError(`Cannot read safetensors ${path}: ${rule}, got ${got}`);
      };
      if (fileSize < 10) refuse("the file must hold a length and a header, in bytes", fileSize);
      const start = new Uint8Array(8);
      await readFully(source, start, 0);
      const length = Number(new DataView(start.buffer).getBigUint64(0, true));
      if (length > largestHeader) {
        refuse(`the header must have at most ${largestHeader} bytes`, length);
      }
      if (length > fileSize - 8) {
        refuse(`the header must fit into the file's ${fileSize} bytes`, length);
      }
      const header = new Uint8Array(length);
      await readFully(source, header, 8);
      const dataStart = 8 + length;
      const parsed = parseSafetensorsHeader(path, utf8Text(header), fileSize - dataStart);
      return new SafetensorsFile(path, parsed.tensors, parsed.metadata, handle, dataStart);
    } catch (error) {
      await handle.close();
      throw error;
    }
  }

  /** The values of a tensor in single precision. */
  async read(name: string): Promise<Float32Array> {
    const { entry, dtype, from } = this.#readable(name);
    const values = new Float32Array(shapeSize(entry.shape));
    if (dtype === "F32") {
      await readFully(this, new Uint8Array(values.buffer), from);
      return values;
    }
    const type = dtype === "F16" ? "float16" : "bfloat16";
    const piece = new Uint16Array(Math.min(pieceSize, values.length));
    for (let at = 0; at < values.length; at += pieceSize) {
      const part = values.subarray(at, at + pieceSize);
      const bits = piece.subarray(0, part.length);
      const bytes = new Uint8Array(bits.buffer, 0, bits.byteLength);
      await readFully(this, bytes, from + 2 * at);
      unpackHalf(bits, type, part);
    }
    return values;
  }

  /** The values as they lie in the file (float16 widened), from the mapped file where it is aligned. */
  stored(name: string, map: ArrayBuffer | null): StoredValues {
    const { entry, dtype, from } = this.#readable(name);
    const length = entry.end - entry.start;
    const width = dtype === "F32" ? 4 : 2;
    const inPlace = map && from % width === 0 ? map : undefined;
    const bytes = inPlace ?? new ArrayBuffer(length);
    if (!inPlace) readFullySync(this, new Uint8Array(bytes), from);
    const at = inPlace ? from : 0;
    const count = length / width;
    if (dtype === "F32") return new Float32Array(bytes, at, count);
    const bits = new Uint16Array(bytes, at, count);
    if (dtype === "BF16") return bits;
    const values = new Float32Array(count);
    unpackHalf(bits, "float16", values);
    return values;
  }

  async close(): Promise<void> {
    await this.handle.close();
  }

  #readable(name: string) {
    const entry = this.tensors.get(name);
    if (!entry) {
      throw new RangeError(`Cannot read safetensors ${this.path}: it must hold ${name}, got none`);
    }
    const { dtype } = entry;
    if (dtype !== "F32" && dtype !== "F16" && dtype !== "BF16") {
      throw new TypeError(
        `Cannot read safetensors ${this.path}: ${name} must be F32, F16 or BF16, got ${dtype}`,
      );
    }
    return { entry, dtype, from: this.dataStart + entry.start } as const;
  }
}
