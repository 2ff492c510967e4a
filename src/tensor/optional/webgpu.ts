import type { KernelBackend } from "#tfjs";
import { readdirSync } from "#platform/files";
import { agent, openGpu, resolvePackage } from "#platform/modules";
import { system } from "#platform/process";
import { type FoundGpu, gpuDevice, holdDevice, nameOf } from "../gpu/device.js";

let gpu: Promise<GPU> | undefined;
let device: Promise<GPUDevice> | undefined;

/** Whether Dawn for Node is there, which is not installed unless somebody asks for it. */
export function webgpuIsInstalled(): boolean {
  return resolvePackage("webgpu/package.json") !== undefined;
}

/** The system's GPUs: Dawn's in Node, the browser's in a tab. */
function loadGpu(): Promise<GPU> {
  gpu ??= openGpu().catch((error: unknown) => {
    const reason = (error as Error).message.split("\n")[0];
    throw new Error(
      `Cannot use the webgpu backend: the package webgpu must be installed (\`npm install webgpu\`), got ${reason}`,
      { cause: error },
    );
  });
  return gpu;
}

/** The device files of GPUs, where the system has such files. */
export function gpuFiles(): string[] {
  return ["/dev", "/dev/dri"].flatMap((folder) => {
    try {
      return readdirSync(folder).filter((name) => /^(nvidia\d|renderD)/.test(name));
    } catch {
      return []; // no such folder: no such device
    }
  });
}

/** Whether it is worth loading Dawn to ask: a device file, or a system that always has one. */
export function gpuIsPlausible(): boolean {
  return system === "linux" ? gpuFiles().length > 0 : system === "darwin";
}

async function findAdapter(): Promise<GPUAdapter | null> {
  return (await loadGpu()).requestAdapter({ powerPreference: "high-performance" });
}

/** The GPU that answers, which may be one made of software; nothing where none does. */
export async function findGpu(): Promise<FoundGpu | undefined> {
  try {
    const adapter = await findAdapter();
    return adapter ? nameOf(adapter) : undefined;
  } catch {
    return undefined; // the optional package is missing or its binary does not load here
  }
}

/** The one device of this process, asked for when it is first wanted. */
export function webgpuDevice(): Promise<GPUDevice> {
  device ??= (async () => {
    const adapter = await findAdapter();
    if (!adapter) {
      throw new Error("Cannot use the webgpu backend: a GPU adapter must be found, got none");
    }
    const asked = await gpuDevice(adapter);
    holdDevice(asked);
    return asked;
  })();
  return device;
}

/** Gives the device back: while there is one, Dawn keeps the process alive. */
export async function releaseWebgpu(): Promise<void> {
  const held = device;
  device = undefined;
  holdDevice(undefined);
  (await held)?.destroy();
}

/** tfjs's WebGPU backend on Dawn, with the adapter's full limits. */
export async function createWebgpu(): Promise<{ backend: KernelBackend; name: string }> {
  const held = await webgpuDevice();
  // Were a GPU on the navigator by now, this would register a backend of its own.
  const { startGpuBackend } = await import("../gpu/start-gpu-backend.js");
  const navigator = { gpu: await loadGpu(), userAgent: agent() };
  Object.defineProperty(globalThis, "navigator", { value: navigator, configurable: true });
  const backend = startGpuBackend(held);
  return { backend, name: nameOf({ info: held.adapterInfo }).name };
}
