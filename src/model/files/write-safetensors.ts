import type { FileHandle } from "#platform/files";
import { packHalf, type WeightType } from "./half.js";
import { shapeSize } from "../transformer/weights.js";
import { type StagedFile, stageFile } from "../../../common/files/durable.js";

/** A tensor to write. Its values are asked for when their turn comes, one tensor at a time. */
export interface TensorSource {
  name: string;
  shape: readonly number[];
  values(): Float32Array | Promise<Float32Array>;
}

const fileTypes = { float32: "F32", float16: "F16", bfloat16: "BF16" } as const;
const pieceSize = 1 << 22; // values converted at a time

async function writeFully(file: FileHandle, from: Uint8Array) {
  let done = 0;
  while (done < from.length) {
    const length = Math.min(from.length - done, 1 << 30);
    done += (await file.write(from, done, length)).bytesWritten;
  }
}

/** As {@link writeSafetensors}, but the file waits for its `commit()`. */
export async function stageSafetensors(
  path: string,
  tensors: readonly TensorSource[],
  options: { dtype?: WeightType; metadata?: Record<string, string> } = {},
): Promise<StagedFile> {
  const dtype = options.dtype ?? "float32";
  const width = dtype === "float32" ? 4 : 2;
  const header: Record<string, unknown> = {
    __metadata__: { format: "pt", ...options.metadata },
  };
  let end = 0;
  for (const { name, shape } of tensors) {
    if (Object.hasOwn(header, name)) {
      throw new RangeError(
        `Cannot write safetensors ${path}: names must differ, got ${name} twice`,
      );
    }
    const start = end;
    end += shapeSize(shape) * width;
    header[name] = { dtype: fileTypes[dtype], shape, data_offsets: [start, end] };
  }
  const text = new TextEncoder().encode(JSON.stringify(header));
  const padded = new Uint8Array(Math.ceil(text.length / 8) * 8).fill(32); // tensors start aligned
  padded.set(text);
  const length = new Uint8Array(8);
  new DataView(length.buffer).setBigUint64(0, BigInt(padded.length), true);

  return stageFile(path, async (file) => {
    await writeFully(file, length);
    await writeFully(file, padded);
    for (const tensor of tensors) {
      const values = await tensor.values();
      if (values.length !== shapeSize(tensor.shape)) {
        throw new RangeError(
          `Cannot write safetensors ${path}: ${tensor.name} must have ${shapeSize(tensor.shape)} values, got ${values.length}`,
        );
      }
      for (let at = 0; at < values.length; at += pieceSize) {
        const part = values.subarray(at, at + pieceSize);
        const data = dtype === "float32" ? part : packHalf(part, dtype);
        await writeFully(file, new Uint8Array(data.buffer, data.byteOffset, data.byteLength));
      }
    }
  });
}

/** Writes tensors to a safetensors file, which appears whole or not at all. */
export async function writeSafetensors(
  path: string,
  tensors: readonly TensorSource[],
  options: { dtype?: WeightType; metadata?: Record<string, string> } = {},
): Promise<void> {
  await (await stageSafetensors(path, tensors, options)).commit();
}
