import { checkOptions, positive } from "../../../common/options/check-options.js";
import { compiledEngine } from "../engine/compiled-engine.js";
import type { Engine } from "../engine/engine.js";
import "../tf.js"; // which registers the backends

/** The most that a machine can do, by the instruction set in use. Operations are products and sums. */
export interface MachineLimits {
  /** The instruction set that was measured: avx512, avx2, sse2, neon, simd128. */
  isa: string;
  threads: number;
  /** Operations per second of float32 products. */
  products: number;
  /** Operations per second of 8-bit products, as the dtypes `w4a8` and `w8a8` use them. */
  integerProducts: number;
  /** Operations per second of products of pairs of bfloat16, as the dtype `w16a16` uses them. */
  bfloat16Products: number;
  /** Bytes per second read from memory. */
  bandwidth: number;
}

export interface MeasureOptions {
  /** How long each of the measurements takes. Default: 0.3. */
  seconds?: number;
  /** How many threads share the work. Default: all that the engine uses. */
  threads?: number;
}

/** More than a processor caches. */
const READ_FLOATS = 64 << 20;

/** The best rate of short bursts: other programs slow some of them, never all. */
function best(seconds: number, burst: () => number): number {
  const end = performance.now() + seconds * 1000;
  let rate = 0;
  for (let i = 0; i < 3 || performance.now() < end; i++) {
    const start = performance.now();
    const amount = burst();
    rate = Math.max(rate, (amount / (performance.now() - start)) * 1000);
  }
  return rate;
}

function measure({ call, isa, upload, release }: Engine, seconds: number): MachineLimits {
  const products = (kind: number) => best(seconds, () => call.peak_products(kind, 60));
  const tiled = call.peak_products(2, 1) > 0 ? products(2) : 0;
  const numbers = upload(new Float32Array(READ_FLOATS).fill(1));
  const bandwidth = best(seconds, () => {
    call.peak_read(numbers, READ_FLOATS);
    return 4 * READ_FLOATS;
  });
  release(numbers);
  return {
    isa,
    threads: call.threads(),
    products: Math.max(products(0), tiled),
    integerProducts: products(1),
    bfloat16Products: products(3),
    bandwidth,
  };
}

/**
 * Measures what the compiled engine can reach at most on this machine now: products of numbers that are in
 * registers, and reading of memory that no cache holds. Takes a second and 256 MB for a moment.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { measureMachine } from "arpo-lab/experimental/profile";
 *
 * const limits = measureMachine({ seconds: 0.01 });
 * assert.ok(limits.products > 1e9, `${limits.isa}: ${limits.products}`);
 * ```
 */
export function measureMachine(options: MeasureOptions = {}): MachineLimits {
  checkOptions("measure the machine", options, { seconds: positive, threads: positive });
  const engine = compiledEngine();
  if (!engine) {
    throw new Error(
      "Cannot measure the machine: the backend must be a compiled engine, got plain JavaScript",
    );
  }
  const { seconds = 0.3, threads } = options;
  const before = engine.call.threads();
  try {
    if (threads !== undefined) engine.call.set_threads(threads);
    return measure(engine, seconds);
  } finally {
    engine.call.set_threads(before);
  }
}
