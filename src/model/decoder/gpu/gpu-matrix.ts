import type { Dispatch } from "../../../tensor/gpu/programs.js";
import {
  packBytes,
  packHalves,
  type StoredType,
  storedStride,
} from "../../../tensor/gpu/wgsl/stored.js";

/** A matrix [out, in] on the card. */
export interface GpuMatrix {
  buffer: GPUBuffer;
  type: StoredType;
  /** Numbers from one row to the next. */
  stride: number;
  /** For each row, where it is kept as bytes. */
  scales?: GPUBuffer;
}

/** Rounds rows of float32 into a matrix that is kept in fewer bits. */
export function packRows(
  from: GPUBuffer,
  to: GpuMatrix,
  [first, rows, width]: readonly [first: number, rows: number, width: number],
): Dispatch {
  const source = { buffer: from, offset: 0, size: 4 * rows * width };
  const numbers = { whole: [rows, width, first] };
  const { buffer, type, scales } = to;
  if (scales) {
    const buffers = [source, { buffer }, { buffer: scales }];
    return { program: packBytes, buffers, numbers, groups: [rows] };
  }
  const words = (rows * storedStride(type, width)) / 2;
  return {
    program: packHalves(type === "float16" ? "float16" : "bfloat16"),
    buffers: [source, { buffer }],
    numbers,
    groups: [Math.ceil(words / 256)],
  };
}
