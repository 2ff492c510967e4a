import type { Dispatch } from "../../../tensor/gpu/programs.js";
import {
  packBytes,
  packHalves,
  storedStride,
  type StoredType,
} from "../../../tensor/gpu/wgsl/stored.js";

/** Buffers by name that grow when more is asked of them; what was in one may be lost by that. */
export class GpuBuffers {
  readonly #device: GPUDevice;
  readonly #buffers = new Map<string, GPUBuffer>();
  /** Buffers that were outgrown: a step that is recorded may still use them. */
  #old: GPUBuffer[] = [];

  constructor(device: GPUDevice) {
    this.#device = device;
  }

  /** A buffer of at least so many bytes. */
  take(name: string, bytes: number, usage = GPUBufferUsage.STORAGE): GPUBuffer {
    const before = this.#buffers.get(name);
    if (before && before.size >= bytes) return before;
    if (before) this.#old.push(before);
    const { maxBufferSize } = this.#device.limits;
    if (bytes > maxBufferSize) {
      throw new RangeError(
        `Cannot decode: ${name} must fit into ${maxBufferSize} bytes, which is what this GPU gives, got ${bytes}`,
      );
    }
    // Room to grow, so that a sequence that gets longer does not ask for more at every step.
    const size = Math.min(maxBufferSize, Math.max(256, 2 ** Math.ceil(Math.log2(bytes))));
    const both = GPUBufferUsage.COPY_SRC | GPUBufferUsage.COPY_DST;
    const mapped = (usage & GPUBufferUsage.MAP_READ) !== 0;
    const made = this.#device.createBuffer({
      size,
      usage: mapped ? usage | GPUBufferUsage.COPY_DST : usage | both,
    });
    this.#buffers.set(name, made);
    return made;
  }

  /** The buffer of this name as it is. */
  get(name: string): GPUBuffer | undefined {
    return this.#buffers.get(name);
  }

  /** To be called when everything that was recorded has been submitted. */
  sweep(): void {
    for (const buffer of this.#old) buffer.destroy();
    this.#old = [];
  }

  dispose(): void {
    this.sweep();
    for (const buffer of this.#buffers.values()) buffer.destroy();
    this.#buffers.clear();
  }
}

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
