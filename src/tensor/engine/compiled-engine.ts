import { tf } from "../tfjs.js";
import { EngineBackend } from "./engine-backend.js";
import type { Engine } from "./engine.js";
import { loadNativeEngine, nativeEngineExists } from "./native-engine.js";
import { loadWasmEngine } from "./wasm-engine.js";

let aside: Engine | undefined;

/**
 * The compiled engine: the backend's own, or one beside a backend that is not ours (tensorflow,
 * webgpu). Nothing where plain JavaScript was asked for.
 */
export function compiledEngine(): Engine | undefined {
  const backend = tf.backend();
  if (backend instanceof EngineBackend) return backend.engine;
  if (tf.getBackend() === "cpu") return undefined;
  return (aside ??= nativeEngineExists() ? loadNativeEngine() : loadWasmEngine());
}
