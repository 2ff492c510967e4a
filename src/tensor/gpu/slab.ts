import type { TensorInfo } from "#tfjs";
import type { GpuBackend } from "./gpu-backend.js";

/** Where shares of a buffer may begin. */
const ALIGNMENT = 256;

/** How tensors lie in one buffer, one after the other. */
interface Layout {
  offsets: readonly number[];
  sizes: readonly number[];
  bytes: number;
}

/** Tensors of these many numbers each, in as many buffers as the device's limit asks for. */
export function layouts(
  counts: readonly number[],
  limit: number,
): { first: number; layout: Layout }[] {
  const found: { first: number; layout: { offsets: number[]; sizes: number[]; bytes: number } }[] =
    [];
  for (const [i, count] of counts.entries()) {
    const size = 4 * count;
    let last = found[found.length - 1];
    if (!last || last.layout.bytes + size > limit) {
      found.push((last = { first: i, layout: { offsets: [], sizes: [], bytes: 0 } }));
    }
    const { layout } = last;
    layout.offsets.push(layout.bytes);
    layout.sizes.push(size);
    layout.bytes += Math.ceil(size / ALIGNMENT) * ALIGNMENT;
  }
  return found;
}

/** Copies tensors into a buffer, each to its place. */
export function gather(
  backend: GpuBackend,
  tensors: readonly TensorInfo[],
  { offsets, sizes }: Layout,
  to: GPUBuffer,
): void {
  for (const [i, tensor] of tensors.entries()) {
    const { buffer, offset = 0 } = backend.at(tensor);
    backend.copy(buffer, offset, to, offsets[i]!, sizes[i]!);
  }
}

/**
 * The buffer that these tensors share in this layout. Where they do not yet, they are moved into a new
 * one, and keep their values and their names.
 */
export function together(
  backend: GpuBackend,
  tensors: readonly TensorInfo[],
  layout: Layout,
): GPUBuffer {
  const shares = tensors.map((tensor) => backend.shareOf(tensor));
  const { buffer } = shares[0] ?? {};
  const inPlace = (share: (typeof shares)[number], i: number) =>
    share?.buffer === buffer && share?.offset === layout.offsets[i];
  if (buffer && shares.every(inPlace)) return buffer;

  const usage = GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_SRC | GPUBufferUsage.COPY_DST;
  const made = backend.bufferManager.acquireBuffer(layout.bytes, usage);
  backend.clear({ buffer: made }); // what lies between two shares is computed on, too
  gather(backend, tensors, layout, made);
  let live = tensors.length;
  const release = () => {
    if (--live === 0) backend.bufferManager.releaseBuffer(made);
  };
  for (const [i, tensor] of tensors.entries()) {
    const [offset, size] = [layout.offsets[i]!, layout.sizes[i]!];
    backend.adopt(tensor, { buffer: made, offset, size, release });
  }
  return made;
}
