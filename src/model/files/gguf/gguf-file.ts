import { checkArguments } from "../../../../common/options/check-arguments.js";
import { type FileHandle, open } from "#platform/files";
import { shapeSize } from "../../transformer/weights.js";
import { readFully, readFullySync } from "../read-file.js";
import { dequantize, readableTypes } from "./dequantize.js";
import { type GgufMetadata, type GgufTensor, HeaderCursor, readHeader } from "./header.js";
import { PackedTensor } from "./packed-tensor.js";
import { tensorTypes } from "./tensor-types.js";

const pieceValues = 1 << 22; // what is unpacked at a time: what a read costs beyond its tensor

/** A GGUF file, opened: its header is read and checked, tensors are read one at a time, by position. */
export class GgufFile {
  readonly format = "GGUF";

  private constructor(
    readonly path: string,
    readonly handle: FileHandle,
    readonly metadata: GgufMetadata,
    /** By the file's own names, such as `blk.0.attn_q.weight`. */
    readonly tensors: ReadonlyMap<string, GgufTensor>,
  ) {}

  /** Opens a file and checks its header; nothing of the tensors is read yet. */
  static async open(path: string): Promise<GgufFile> {
    checkArguments("read GGUF", { path }, { path: "path" });
    const handle = await open(path, "r").catch((error: NodeJS.ErrnoException) => {
      throw new RangeError(`Cannot read GGUF: ${path} must be readable, got ${error.code}`, {
        cause: error,
      });
    });
    try {
      const { size } = await handle.stat();
      const { metadata, tensors } = readHeader(new HeaderCursor(path, handle.fd, size));
      return new GgufFile(path, handle, metadata, tensors);
    } catch (error) {
      await handle.close();
      throw error;
    }
  }

  /** The values of a tensor in single precision. */
  async read(name: string): Promise<Float32Array> {
    const tensor = this.#readable(name);
    const values = new Float32Array(shapeSize(tensor.shape));
    for (const { from, bytes, part } of pieces(tensor, values)) {
      const piece = new Uint8Array(bytes);
      await readFully(this, piece, from);
      dequantize(tensor.type, piece, part);
    }
    return values;
  }

  /** The bytes of a tensor as they lie there, from the file mapped into memory where it is. */
  packed(name: string, map: ArrayBuffer | null): PackedTensor {
    const { type, start, bytes, shape } = this.#readable(name);
    const held = map ? new Uint8Array(map, start, bytes) : new Uint8Array(bytes);
    if (!map) readFullySync(this, held, start);
    return new PackedTensor(type, held, shapeSize(shape));
  }

  async close(): Promise<void> {
    await this.handle.close();
  }

  #readable(name: string): GgufTensor {
    const tensor = this.tensors.get(name);
    if (!tensor) {
      throw new RangeError(`Cannot read GGUF ${this.path}: it must hold ${name}, got none`);
    }
    if (!readableTypes.includes(tensor.type)) {
      throw new TypeError(
        `Cannot read GGUF ${this.path}: ${name} must be one of ${readableTypes.join(", ")}, got ${tensor.type}`,
      );
    }
    return tensor;
  }
}

/** Where a tensor's bytes lie, piece by piece, and where their values go. */
function* pieces(tensor: GgufTensor, values: Float32Array) {
  const packed = [...tensorTypes.values()].find(({ name }) => name === tensor.type)!;
  for (let at = 0; at < values.length; at += pieceValues) {
    const part = values.subarray(at, at + pieceValues);
    const from = tensor.start + (at / packed.values) * packed.bytes;
    yield { from, bytes: (part.length / packed.values) * packed.bytes, part };
  }
}
