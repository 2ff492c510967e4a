import { GpuBackend } from "./gpu-backend.js";
import { gpuAdapterKernels } from "./kernels/adapters.js";
import { gpuAttentionKernels } from "./kernels/attention.js";
import { registerGpuKernels } from "./kernels/kernel.js";
import { gpuOptimiserKernels } from "./kernels/optimiser.js";
import { gpuTransformerKernels } from "./kernels/transformer.js";
import { gpuVocabularyKernels } from "./kernels/vocabulary.js";

/** The GPU backend on a device, in Node or a browser: tfjs's with fused kernels. */
export function startGpuBackend(device: GPUDevice): GpuBackend {
  for (const kernels of [
    gpuTransformerKernels,
    gpuAdapterKernels,
    gpuAttentionKernels,
    gpuVocabularyKernels,
    gpuOptimiserKernels,
  ]) {
    registerGpuKernels(kernels);
  }
  return new GpuBackend(device, device.adapterInfo);
}
