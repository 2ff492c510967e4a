import type { TensorInfo } from "#tfjs";
import type { EngineBackend } from "../engine/engine-backend.js";
import { tf } from "../tfjs.js";

/** A kernel of the engine backends: from tensors to one tensor or several. */
export type EngineKernel = (
  backend: EngineBackend,
  inputs: Record<string, TensorInfo>,
  attributes: Record<string, number>,
) => TensorInfo | TensorInfo[];

/** Adds kernels to a backend, in place of an inherited one where there is one of that name. */
export function registerKernels(
  backendName: string,
  kernels: Readonly<Record<string, EngineKernel>>,
): void {
  for (const [kernelName, kernel] of Object.entries(kernels)) {
    if (tf.getKernel(kernelName, backendName)) tf.unregisterKernel(kernelName, backendName);
    tf.registerKernel({
      kernelName,
      backendName,
      kernelFunc: ({ inputs, backend, attrs }) =>
        kernel(
          backend as EngineBackend,
          inputs as unknown as Record<string, TensorInfo>,
          (attrs ?? {}) as Record<string, number>,
        ),
    });
  }
}

/** All but the last axis counted as rows. */
export function rowsOf(info: TensorInfo): { rows: number; width: number } {
  const width = info.shape[info.shape.length - 1]!;
  return { rows: tf.util.sizeFromShape(info.shape.slice(0, -1)), width };
}
