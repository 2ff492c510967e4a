import { environment } from "#platform/process";
import { note, noteOutside } from "#platform/note";
import { type KernelBackend, MathBackendCPU } from "#tfjs";
import { EngineBackend } from "./engine/engine-backend.js";
import type { Engine } from "./engine/engine.js";
import { loadNativeEngine, nativeEngineExists } from "./engine/native-engine.js";
import type { WasmBuild } from "./engine/wasm-builds.js";
import { loadWasmEngine } from "./engine/wasm-engine.js";
import { arithmeticKernels } from "./kernels/arithmetic.js";
import { registerFusedGradients } from "./kernels/gradients.js";
import { registerKernels } from "./kernels/kernel.js";
import { optimiserKernels } from "./kernels/optimiser.js";
import { transformerKernels } from "./kernels/transformer.js";
import { vocabularyKernels } from "./kernels/vocabulary.js";
import { loadTensorflow } from "./optional/tensorflow.js";
import { createWebgpu, releaseWebgpu, webgpuDevice } from "./optional/webgpu.js";
import { tf } from "./tfjs.js";

/** Every backend there is: first those that are taken where they are, best first, then those that are asked for. */
const backendNames = ["native", "wasm", "cpu", "wasm-relaxed", "webgpu", "tensorflow"] as const;
export type BackendName = (typeof backendNames)[number];

/**
 * Says once which backend was chosen; on standard error, so that piped output stays clean. In a notebook a
 * cell would show that as an error, so the kernel's log has it.
 */
function announce(text: string): void {
  const inKernel = Symbol.for("arpo-lab.kernel.host") in globalThis;
  (inKernel ? noteOutside : note)(`arpo-lab: tensors on ${text}`);
}

function engineBackend(name: string, engine: Engine): EngineBackend {
  for (const kernel of tf.getKernelsForBackend("cpu")) {
    tf.registerKernel({ ...kernel, backendName: name });
  }
  for (const kernels of [
    arithmeticKernels,
    transformerKernels,
    vocabularyKernels,
    optimiserKernels,
  ]) {
    registerKernels(name, kernels);
  }
  const threads = engine.call.threads();
  announce(`${name} (${engine.isa}, ${threads} ${threads === 1 ? "thread" : "threads"})`);
  return new EngineBackend(engine);
}

/** tfjs's own, without its advertisement for its other backends. */
function cpuBackend(): MathBackendCPU {
  const backend = new MathBackendCPU();
  (backend as unknown as { firstUse: boolean }).firstUse = false;
  announce("cpu (plain JavaScript)");
  return backend;
}

/** Why there is no GPU; tfjs itself only writes it on standard error. */
let webgpuFailure: unknown;

async function webgpuBackend(quietly = false): Promise<KernelBackend> {
  try {
    const { backend, name } = await createWebgpu();
    if (!quietly) announce(`webgpu (${name})`);
    return backend;
  } catch (error) {
    webgpuFailure = error;
    throw error;
  }
}

function engineOf(name: "native" | WasmBuild, priority: number): () => Engine {
  let engine: Engine | undefined;
  const load = () => (engine ??= name === "native" ? loadNativeEngine() : loadWasmEngine(name));
  tf.registerBackend(name, () => engineBackend(name, load()), priority);
  return load;
}

function asBackendName(name: string): BackendName {
  if ((backendNames as readonly string[]).includes(name)) return name as BackendName;
  throw new RangeError(
    `Cannot choose a backend: ARPO_LAB_BACKEND must be one of ${backendNames.join(", ")}, got ${name}`,
  );
}

/** Registers the backend of this name; what it returns starts it, or throws. */
function register(name: BackendName): () => unknown {
  if (name === "native" || name === "wasm" || name === "wasm-relaxed") return engineOf(name, 9);
  if (name === "webgpu") tf.registerBackend("webgpu", () => webgpuBackend(), 9);
  if (name === "tensorflow") announce(`tensorflow (${loadTensorflow()})`);
  return () => undefined;
}

/**
 * tfjs would go on with the next best after a warning. What a person asked for is used, or the first
 * operation says why not; an import never does.
 */
function insistOn(chosen: string): void {
  let start: () => unknown;
  try {
    start = register(asBackendName(chosen));
  } catch (error) {
    start = () => {
      throw error;
    };
  }
  const engine = tf.engine() as unknown as { getSortedBackends(): string[] };
  engine.getSortedBackends = () => {
    start();
    return [chosen];
  };
}

/**
 * Tells tfjs what there is. Nothing is loaded before the first tensor operation, except `tensorflow`,
 * which registers itself when it is loaded. A GPU is never taken because it was found: for small models
 * it is the slower one, so it has to be asked for.
 */
export function registerBackends(): void {
  registerFusedGradients();
  if (tf.findBackendFactory("cpu")) tf.removeBackend("cpu");
  tf.registerBackend("cpu", cpuBackend, 1);
  const chosen = environment.ARPO_LAB_BACKEND;
  if (chosen) return insistOn(chosen);
  // If the addon does not load, tfjs says so and takes the next.
  if (nativeEngineExists()) engineOf("native", 9);
  engineOf("wasm", 8);
}

/**
 * Computes on another backend from here on: `webgpu` or an engine. Whoever has tensors on the one before
 * disposes of them first; a GPU that is left is given back.
 */
export async function switchBackend(name: BackendName): Promise<void> {
  const before = tf.getBackend();
  if (name === before) return;
  if (name === "webgpu") {
    await webgpuDevice(); // or its reason, without what tfjs would print of it
    tf.registerBackend("webgpu", () => webgpuBackend(true), 0);
  }
  const started = await tf.setBackend(name);
  if (!started) await tf.setBackend(before);
  if (before === "webgpu" || !started) {
    tf.removeBackend("webgpu");
    await releaseWebgpu();
  }
  if (!started) {
    throw webgpuFailure ?? new Error(`Cannot compute on ${name}: tfjs must start it, got nothing`);
  }
}

/**
 * Resolves when the backend is ready: needed before the first tensor operation where that is a GPU,
 * which can only be asked for asynchronously. Elsewhere it changes nothing.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { ready, tf } from "arpo-lab/model";
 *
 * const name = await ready();
 * assert.equal(name, tf.getBackend());
 * ```
 */
export async function ready(): Promise<BackendName> {
  try {
    await tf.ready();
  } catch (error) {
    throw webgpuFailure ?? error;
  }
  return tf.getBackend() as BackendName;
}

let chosen: BackendName | undefined;

/** What decoders are to compute on from here on, where that is another backend than the tensors'. */
export function decodeOn(name: BackendName | undefined): void {
  chosen = name;
}

/** What decoders compute on: what was chosen for them, else what tensors are on. */
export function decodeBackend(): BackendName {
  return chosen ?? (tf.getBackend() as BackendName);
}
