import { MathBackendCPU } from "#tfjs";
import type { KernelBackend } from "@tensorflow/tfjs-core";
import { EngineBackend } from "./engine/engine-backend.js";
import type { Engine } from "./engine/engine.js";
import { loadNativeEngine, nativeEngineExists } from "./engine/native-engine.js";
import { loadWasmEngine } from "./engine/wasm-engine.js";
import { arithmeticKernels } from "./kernels/arithmetic.js";
import { registerFusedGradients } from "./kernels/gradients.js";
import { registerKernels } from "./kernels/kernel.js";
import { optimiserKernels } from "./kernels/optimiser.js";
import { transformerKernels } from "./kernels/transformer.js";
import { vocabularyKernels } from "./kernels/vocabulary.js";
import { loadTensorflow, tensorflowIsInstalled } from "./optional/tensorflow.js";
import { createWebgpu, gpuIsPlausible, webgpuAnswers } from "./optional/webgpu.js";
import { tf } from "./tfjs.js";

/** Every backend there is, best first. */
export const backendNames = ["tensorflow", "webgpu", "native", "wasm", "cpu"] as const;
export type BackendName = (typeof backendNames)[number];

/** Says once which backend was chosen; on standard error, so that piped output stays clean. */
function announce(text: string): void {
  process.stderr.write(`arpo-lab: tensors on ${text}\n`);
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
  const threads = engine.call.threads!();
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

async function webgpuBackend(): Promise<KernelBackend> {
  const { backend, name } = await createWebgpu();
  announce(`webgpu (${name})`);
  return backend;
}

function readChoice(): BackendName | undefined {
  const chosen = process.env.ARPO_LAB_BACKEND || undefined;
  if (chosen === undefined || (backendNames as readonly string[]).includes(chosen)) {
    return chosen as BackendName | undefined;
  }
  throw new RangeError(
    `Cannot choose a backend: ARPO_LAB_BACKEND must be one of ${backendNames.join(", ")}, ` +
      `got ${chosen}`,
  );
}
const choice = readChoice();

/**
 * Tells tfjs what there is. Nothing is loaded before the first tensor operation, except `tensorflow`,
 * which registers itself when it is loaded.
 */
export function registerBackends(): void {
  registerFusedGradients();
  if (tf.findBackendFactory("cpu")) tf.removeBackend("cpu");
  tf.registerBackend("cpu", cpuBackend, 1);
  if (choice === "tensorflow" || (choice === undefined && tensorflowIsInstalled())) {
    try {
      announce(`tensorflow (${loadTensorflow()})`);
      return;
    } catch (error) {
      if (choice) throw error;
      announce(`another backend, because tensorflow does not load: ${(error as Error).message}`);
    }
  }
  if (choice === "webgpu") tf.registerBackend("webgpu", webgpuBackend, 9);
  const native = choice === "native" || (choice === undefined && nativeEngineExists());
  if (native) tf.registerBackend("native", () => engineBackend("native", loadNativeEngine()), 9);
  // If the addon does not load, tfjs says so and takes the next.
  if (choice === "wasm" || choice === undefined) {
    tf.registerBackend("wasm", () => engineBackend("wasm", loadWasmEngine()), 8);
  }
}

/**
 * Resolves when the backend is ready: needed before the first tensor operation where that may be a
 * GPU, which can only be asked for asynchronously. Without a GPU it changes nothing.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { ready, tf } from "arpo-lab/tensor";
 *
 * const name = await ready();
 * assert.equal(name, tf.getBackend());
 * ```
 */
export async function ready(): Promise<BackendName> {
  const free = choice === undefined && tf.engine().backendName === undefined;
  if (free && gpuIsPlausible()) {
    tf.registerBackend("webgpu", webgpuBackend, 10);
    // Where Dawn finds no adapter, the next best stays.
    if (!(await webgpuAnswers())) tf.removeBackend("webgpu");
  }
  await tf.ready();
  const name = tf.getBackend() as BackendName;
  // tfjs would go on with the next one.
  if (choice !== undefined && name !== choice && tf.findBackend(choice) === null) {
    throw new Error(
      `Cannot compute: ARPO_LAB_BACKEND must be a backend that starts here, got ${choice}; the reason is above`,
    );
  }
  return name;
}
