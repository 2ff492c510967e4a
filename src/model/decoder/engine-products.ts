import { compiledEngine } from "../../tensor/engine/compiled-engine.js";

/** Products of a matrix [out, in] with vectors, plus a bias. What one vector gives does not depend on the others. */
export type Products = (
  matrix: Float32Array,
  vectors: readonly Float64Array[],
  bias?: Float32Array,
) => Float64Array[];

/**
 * Products of the native engine, which reads arrays where they are, in single precision; undefined where there is no such
 * engine.
 */
export function engineProducts(): Products | undefined {
  const engine = compiledEngine();
  if (engine?.kind !== "native") return undefined;
  return (matrix, vectors, bias) => {
    const [rows, width] = [vectors.length, vectors[0]?.length ?? 0];
    if (rows === 0) return [];
    const out = matrix.length / width;
    const given = new Float32Array(rows * width);
    for (const [i, x] of vectors.entries()) given.set(x, i * width);
    const found = new Float32Array(rows * out);
    const [a, b, c] = [
      [given, width, false, 0],
      [matrix, width, true, 0],
      [found, out, 0],
    ] as const;
    engine.call.matmul(...a, ...b, ...c, 1, rows, out, width, 1, false);
    return vectors.map((_, i) => {
      const one = Float64Array.from(found.subarray(i * out, (i + 1) * out));
      if (bias) for (let o = 0; o < out; o++) one[o]! += bias[o]!;
      return one;
    });
  };
}
