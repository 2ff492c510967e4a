import { EngineBackend } from "./engine/engine-backend.js";
import { tf } from "./tfjs.js";

export type MatmulPrecision = "float32" | "bfloat16";

let current: MatmulPrecision = "float32";

/** That of the products that are made now; their gradients are made in it too. */
export function matmulPrecision(): MatmulPrecision {
  return current;
}

/**
 * Runs something whose large matrix products round their factors to bfloat16, and add in single precision, or
 * do not. It must not wait: other work would be rounded too.
 */
export function inMatmulPrecision<T>(precision: MatmulPrecision, run: () => T): T {
  if (precision === current) return run();
  const backend = tf.backend();
  if (!(backend instanceof EngineBackend)) {
    throw new Error(
      `Cannot multiply in ${precision}: the backend must be native or wasm, got ${tf.getBackend()}`,
    );
  }
  const before = current;
  const set = (to: MatmulPrecision) => {
    current = to;
    backend.engine.call.round_products(to === "bfloat16");
  };
  set(precision);
  try {
    return run();
  } finally {
    set(before);
  }
}
