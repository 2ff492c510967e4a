import type { TensorInfo } from "#tfjs";
import { tf } from "../../tfjs.js";
import type { GpuBackend } from "../gpu-backend.js";

export type Infos = Record<string, TensorInfo>;
type Attributes = Record<string, number>;

/** A kernel of the GPU backend: from tensors to one tensor or several. */
export type GpuKernel = (
  backend: GpuBackend,
  inputs: Infos,
  attributes: Attributes,
) => TensorInfo | TensorInfo[];

/** Adds kernels to the GPU backend. */
export function registerGpuKernels(kernels: Readonly<Record<string, GpuKernel>>): void {
  for (const [kernelName, kernel] of Object.entries(kernels)) {
    if (tf.getKernel(kernelName, "webgpu")) continue; // a backend that was left and is taken again
    tf.registerKernel({
      kernelName,
      backendName: "webgpu",
      kernelFunc: ({ inputs, backend, attrs }) =>
        kernel(
          backend as GpuBackend,
          inputs as unknown as Infos,
          (attrs ?? {}) as unknown as Attributes,
        ),
    });
  }
}

/** Workgroups of `size` threads for `count` things. */
export const groupsOf = (count: number, size: number): number => Math.ceil(count / size);
export const sizeOf = (info: TensorInfo): number => tf.util.sizeFromShape(info.shape);
