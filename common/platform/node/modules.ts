import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import { Worker, workerData } from "node:worker_threads";
import type * as Resvg from "@resvg/resvg-js";

const root = new URL("../../../../", import.meta.url);

/** Where a file or folder of this package is, by its name from the package's own folder. */
export function packagePath(name: string): string {
  return fileURLToPath(new URL(name, root));
}

/** Starts a script of the package in a thread of its own, which keeps no process alive. */
export function startThread(script: string, data: unknown): void {
  // Not with this process's own flags: a worker refuses some, such as --input-type.
  new Worker(packagePath(script), { workerData: data, execArgv: [] }).unref();
}

/** What the thread that this is was started with. */
export function threadData(): Promise<unknown> {
  return Promise.resolve(workerData);
}

// What may be installed beside the package: native addons, TensorFlow, Dawn.
const require = createRequire(import.meta.url);

/** The newest interface for addons that this Node has. */
export const addonInterface = Number(process.versions.napi);

/** Where a file of a package is; undefined where it is not installed. */
export function resolvePackage(name: string): string | undefined {
  try {
    return require.resolve(name);
  } catch {
    return undefined;
  }
}

/** Loads a package, or an addon by its path. */
export function requirePackage(name: string): unknown {
  return require(name);
}

/** Types of a platform before TypeScript 6 know no WebGPU. */
type Gpu = Navigator extends { readonly gpu: infer G } ? G : unknown;

/** Dawn for Node, which is there where somebody installed it; loading it defines WebGPU's globals. */
export async function openGpu(): Promise<Gpu> {
  const { create, globals } = await import("webgpu");
  Object.assign(globalThis, globals);
  return create([]) as unknown as Gpu;
}

/** What a page would be told of the program that it is in. */
export const agent = (): string => `Node.js/${process.version}`;

/** What draws an SVG as a PNG. */
export function loadResvg(): Promise<typeof Resvg> {
  return import("@resvg/resvg-js");
}

/** How one interpreter is started. */
export interface FrameSettings {
  memoryBytes: number;
  /** A module that is imported ahead, which brings the large packages with it. */
  preload?: string;
}

/** An interpreter in a frame of the page: a port for its messages, and its end. */
export interface FramedPython {
  port: MessagePort;
  end(): void;
}

/** Starts interpreters in a frame of the page; undefined where each has a process instead. */
export const pythonFrame = undefined as ((settings: FrameSettings) => FramedPython) | undefined;
