import type { KernelBackend } from "#tfjs";
import { readdirSync } from "node:fs";
import { createRequire } from "node:module";

/** The few parts of WebGPU that are used here. */
interface Adapter {
  features: ReadonlySet<string>;
  limits: Record<string, number>;
  info?: { vendor?: string; architecture?: string; device?: string; description?: string };
  isFallbackAdapter?: boolean;
  requestDevice(options: object): Promise<object>;
}
interface Gpu {
  requestAdapter(options?: object): Promise<Adapter | null>;
}

let gpu: Promise<Gpu> | undefined;

async function dawn(): Promise<typeof import("webgpu")> {
  try {
    return await import("webgpu");
  } catch (error) {
    const reason = (error as Error).message.split("\n")[0];
    throw new Error(
      `Cannot use the webgpu backend: the package webgpu must be installed (\`npm install webgpu\`), got ${reason}`,
      { cause: error },
    );
  }
}

/** Whether Dawn for Node is there, which is not installed unless somebody asks for it. */
export function webgpuIsInstalled(): boolean {
  try {
    createRequire(import.meta.url).resolve("webgpu/package.json");
    return true;
  } catch {
    return false;
  }
}

/** Dawn for Node; loading it defines WebGPU's globals. */
function loadGpu(): Promise<Gpu> {
  gpu ??= (async () => {
    const { create, globals } = await dawn();
    Object.assign(globalThis, globals);
    return create([]) as unknown as Gpu;
  })();
  return gpu;
}

/** Whether it is worth loading Dawn to ask: a device file, or a system that always has one. */
export function gpuIsPlausible(): boolean {
  if (process.platform !== "linux") return process.platform === "darwin";
  return ["/dev", "/dev/dri"].some((folder) => {
    try {
      return readdirSync(folder).some((name) => /^(nvidia\d|renderD)/.test(name));
    } catch {
      return false; // no such folder: no such device
    }
  });
}

async function findAdapter(): Promise<Adapter | null> {
  return (await loadGpu()).requestAdapter({ powerPreference: "high-performance" });
}

/** Whether a real GPU answers; a software renderer does not count. */
export async function webgpuAnswers(): Promise<boolean> {
  try {
    const adapter = await findAdapter();
    const text = JSON.stringify(adapter?.info?.description ?? "");
    return adapter !== null && !adapter.isFallbackAdapter && !/llvmpipe|swiftshader/i.test(text);
  } catch {
    return false; // the optional package is missing or its binary does not load here
  }
}

/** tfjs's WebGPU backend on Dawn, with the adapter's full limits. */
export async function createWebgpu(): Promise<{ backend: KernelBackend; name: string }> {
  const adapter = await findAdapter();
  if (!adapter) {
    throw new Error("Cannot use the webgpu backend: Dawn must find a GPU adapter, got none");
  }
  // Were a GPU on the navigator by now, this would register a backend of its own.
  const { WebGPUBackend } = await import("#tfjs-webgpu");
  const navigator = { gpu: await loadGpu(), userAgent: `Node.js/${process.version}` };
  Object.defineProperty(globalThis, "navigator", { value: navigator, configurable: true });
  const wanted = [
    "maxComputeWorkgroupStorageSize",
    "maxComputeWorkgroupsPerDimension",
    "maxStorageBufferBindingSize",
    "maxBufferSize",
    "maxComputeWorkgroupSizeX",
    "maxComputeInvocationsPerWorkgroup",
  ];
  const device = await adapter.requestDevice({
    requiredFeatures: adapter.features.has("timestamp-query") ? ["timestamp-query"] : [],
    requiredLimits: Object.fromEntries(wanted.map((name) => [name, adapter.limits[name]])),
  });
  const backend = new WebGPUBackend(device, adapter.info);
  const { device: model, description, vendor } = adapter.info ?? {};
  return { backend, name: [vendor, description || model].filter(Boolean).join(" ") || "a GPU" };
}
