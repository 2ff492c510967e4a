import { utf8Text } from "#platform/bytes";
import { unpackHalf } from "../../model/files/half.js";
import { unpickle } from "./pickle.js";
import {
  numberWidths,
  torchGlobals,
  torchStorage,
  type TorchTensor,
  type TorchType,
} from "./torch-globals.js";
import { ZipArchive, type ZipEntry } from "../../base/files/zip-archive.js";

const largestPickle = 1 << 26; // a state dict of 100,000 tensors has 20 MB

/**
 * A file of `torch.save`, opened without running anything of it: `root` is what was saved, with
 * descriptions in place of tensors, whose numbers are read when asked for. Names outside the list of
 * PyTorch's own data types are refused.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { TorchArchive } from "arpo-lab/experimental/convert";
 *
 * await assert.rejects(TorchArchive.open("package.json"), /must be a zip archive/);
 * ```
 */
export class TorchArchive {
  private constructor(
    readonly path: string,
    readonly root: unknown,
    private readonly zip: ZipArchive,
    private readonly folder: string,
  ) {}

  static async open(path: string): Promise<TorchArchive> {
    const zip = await ZipArchive.open(path, { meant: ", as torch.save writes since PyTorch 1.6" });
    try {
      const refuse = (rule: string, got: unknown): never => {
        throw new SyntaxError(`Cannot read ${path}: ${rule}, got ${got}`);
      };
      const pickles = [...zip.entries.values()].filter(({ name }) =>
        /^[^/]+\/data\.pkl$/.test(name),
      );
      if (pickles.length !== 1) refuse("it must hold one FOLDER/data.pkl", pickles.length);
      const pickle = pickles[0]!;
      if (pickle.size > largestPickle)
        refuse(`data.pkl must have at most ${largestPickle} bytes`, pickle.size);
      const folder = pickle.name.slice(0, -"data.pkl".length);
      const order = zip.entries.get(`${folder}byteorder`);
      if (order) {
        const text = utf8Text(await zip.readRange(order, 0, Math.min(order.size, 16)));
        if (text !== "little") refuse("its numbers must be little-endian", JSON.stringify(text));
      }
      let root: unknown;
      try {
        root = unpickle(await zip.read(pickle), {
          globals: torchGlobals,
          persistent: torchStorage,
        });
      } catch (error) {
        // The same kind of error, with the file's name.
        if (error instanceof Error) error.message += ` (${path})`;
        throw error;
      }
      return new TorchArchive(path, root, zip, folder);
    } catch (error) {
      await zip.close();
      throw error;
    }
  }

  /** A tensor's values in row order and single precision. */
  async read(tensor: TorchTensor): Promise<Float32Array> {
    const { storage, offset, shape, strides } = tensor;
    const width = numberWidths[storage.type];
    const name = `${this.folder}data/${storage.key}`;
    const entry: ZipEntry | undefined = this.zip.entries.get(name);
    if (entry?.size !== storage.length * width) {
      throw new SyntaxError(
        `Cannot read ${this.path}: ${name} must have ${storage.length * width} bytes, got ${entry?.size ?? "no such file"}`,
      );
    }
    const count = shape.reduce((a, b) => a * b, 1);
    if (count === 0) return new Float32Array(0);
    const span = 1 + shape.reduce((sum, n, i) => sum + (n - 1) * strides[i]!, 0);
    const bytes = await this.zip.readRange(entry, offset * width, span * width);
    const values = toFloat32(bytes, storage.type);
    return isDense(shape, strides) ? values : gather(values, shape, strides, count);
  }

  async close(): Promise<void> {
    await this.zip.close();
  }
}

/** Whether values lie one after the other in row order. */
function isDense(shape: readonly number[], strides: readonly number[]): boolean {
  let step = 1;
  for (let i = shape.length - 1; i >= 0; i--) {
    if (shape[i] !== 1 && strides[i] !== step) return false;
    step *= shape[i]!;
  }
  return true;
}

function gather(
  from: Float32Array,
  shape: readonly number[],
  strides: readonly number[],
  count: number,
): Float32Array {
  const out = new Float32Array(count);
  const index = shape.map(() => 0);
  let at = 0;
  for (let i = 0; i < count; i++) {
    out[i] = from[at]!;
    for (let d = shape.length - 1; d >= 0; d--) {
      at += strides[d]!;
      if (++index[d]! < shape[d]!) break;
      at -= strides[d]! * shape[d]!;
      index[d] = 0;
    }
  }
  return out;
}

function toFloat32(bytes: Uint8Array, type: TorchType): Float32Array {
  const { buffer, byteOffset: from, byteLength } = bytes;
  const count = byteLength / numberWidths[type];
  switch (type) {
    case "float32":
      return new Float32Array(buffer, from, count);
    case "float16":
    case "bfloat16": {
      const out = new Float32Array(count);
      unpackHalf(new Uint16Array(buffer, from, count), type, out);
      return out;
    }
    case "float64":
      return Float32Array.from(new Float64Array(buffer, from, count));
    case "int64":
      return Float32Array.from(new BigInt64Array(buffer, from, count), Number);
    case "int32":
      return Float32Array.from(new Int32Array(buffer, from, count));
    case "int16":
      return Float32Array.from(new Int16Array(buffer, from, count));
    case "int8":
      return Float32Array.from(new Int8Array(buffer, from, count));
    case "bool":
    case "uint8":
      return Float32Array.from(bytes);
  }
}
