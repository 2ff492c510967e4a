// How tfjs is packed into one file: core, every gradient, the chained methods (`x.add(y)`) and the cpu
// backend. tfjs-core's own Node file leaves gradients and methods out.
import { build } from "./bundle.mjs";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { copyDeclarations } from "./declarations.mjs";

const root = fileURLToPath(new URL("../..", import.meta.url));

/** Packs tfjs into `outfile`; `plugins` may change its files on the way. */
export async function packTfjs(outfile, { plugins = [], minify = true, platform = "node" } = {}) {
  await build({
    stdin: {
      contents: `export * from "@tensorflow/tfjs-core";
import "@tensorflow/tfjs-core/dist/register_all_gradients.js";
import "@tensorflow/tfjs-core/dist/public/chained_ops/register_all_chained_ops.js";
export { MathBackendCPU } from "@tensorflow/tfjs-backend-cpu";`,
      resolveDir: root,
    },
    outfile,
    bundle: true,
    platform,
    format: "esm",
    target: "node20",
    mainFields: [...(platform === "browser" ? ["browser"] : []), "module", "main"],
    minify,
    keepNames: minify,
    logLevel: "error",
    ...(platform === "node" && {
      banner: {
        js: 'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);',
      },
    }),
    plugins,
  });
}

/** tfjs's WebGPU backend, on the pack's core, with its type beside it. */
export async function packWebgpu(outfile) {
  await build({
    stdin: {
      contents: 'export { WebGPUBackend } from "@tensorflow/tfjs-backend-webgpu";',
      resolveDir: root,
    },
    outfile,
    bundle: true,
    platform: "node",
    format: "esm",
    target: "node20",
    mainFields: ["module", "main"],
    alias: { "@tensorflow/tfjs-core": "#tfjs" },
    external: ["#tfjs"],
    minify: true,
    keepNames: true,
    logLevel: "error",
  });
  writeFileSync(
    outfile.replace(/\.mjs$/, ".d.mts"),
    `import { KernelBackend, type DataType, type TensorInfo } from "./tfjs/index.js";
type DataId = TensorInfo["dataId"];
/** What is behind a tensor. */
export interface GpuTensorData {
  dtype: DataType;
  shape: number[];
  refCount: number;
  values: Float32Array | Int32Array | Uint8Array | null | undefined;
  resource: GPUBuffer | null | undefined;
}
export declare class WebGPUBackend extends KernelBackend {
  constructor(device: GPUDevice, info?: GPUAdapterInfo);
  readonly device: GPUDevice;
  readonly queue: GPUQueue;
  readonly bufferManager: {
    acquireBuffer(size: number, usage: number): GPUBuffer;
    releaseBuffer(buffer: GPUBuffer, reuse?: boolean): void;
    readonly freeBuffers: ReadonlyMap<string, GPUBuffer[]>;
    numFreeBuffers: number;
    numBytesUsed: number;
    numBytesAllocated: number;
  };
  readonly tensorMap: {
    get(id: DataId): GpuTensorData;
    has(id: DataId): boolean;
    delete(id: DataId): boolean;
  };
  commandEncoder: GPUCommandEncoder | null;
  computePassEncoder: GPUComputePassEncoder | null;
  dispatchCountInPass: number;
  commandQueueOwnedIds: { add(id: DataId): unknown; has(id: DataId): boolean };
  tensorDataPendingDisposal: DataId[];
  uniformPendingDisposal: GPUBuffer[];
  stagingPendingDisposal: GPUBuffer[];
  ensureCommandEncoderReady(): void;
  endComputePassEncoder(): void;
  submitQueue(): void;
  uploadToGPU(id: DataId): void;
  releaseResource(id: DataId): void;
  tensorToBinding(tensor: TensorInfo): GPUBufferBinding;
  getBufferData(buffer: GPUBuffer): Promise<ArrayBuffer>;
  makeTensorInfo(shape: number[], dtype: DataType): TensorInfo;
}
`,
  );
}

/** The types of the pack: `folder`/index.d.ts and what it names. */
export function copyTfjsTypes(folder) {
  const cpu = "tfjs-backend-cpu/dist/backend_cpu";
  const core = "tfjs-core/dist";
  const chained = `${core}/public/chained_ops/register_all_chained_ops`;
  copyDeclarations({
    from: join(root, "node_modules/@tensorflow"),
    to: folder,
    entries: [`${core}/index.d.ts`, `${chained}.d.ts`, `${cpu}.d.ts`],
    packages: { "@tensorflow/tfjs-core": "tfjs-core" },
    // Names of packages that tfjs does not bring.
    edit: (text) =>
      text
        .replace(/^\/\/\/ <(reference|amd-module) .*\n/gm, "")
        .replace(/\bGPUBuffer\b/g, "object")
        .replace(/\): Long;/g, "): unknown;"),
  });
  writeFileSync(
    join(folder, "index.d.ts"),
    `import "./${chained}.js";
export * from "./${core}/index.js";
export { MathBackendCPU } from "./${cpu}.js";
`,
  );
}
