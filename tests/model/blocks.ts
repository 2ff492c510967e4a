import assert from "node:assert/strict";
import { PackedTensor } from "../../src/model/files/gguf/packed-tensor.js";
import { quantize } from "../../src/model/files/gguf/quantize.js";
import type { Decoder } from "../../src/model/decoder/decoder.js";
import type { DecoderWeights } from "../../src/model/decoder/weights.js";
import { loadNativeEngine, nativeEngineExists } from "../../src/tensor/engine/native-engine.js";
import { loadWasmEngine } from "../../src/tensor/engine/wasm-engine.js";
import { feed } from "./decoder-suite.js";

export type Kind = "Q4_0" | "Q4_1" | "Q8_0";

/** Weights of which each matrix is what `change` makes of it. */
export function changed<M>(
  weights: DecoderWeights,
  change: (matrix: Float32Array, name: string) => M,
): DecoderWeights<M> {
  const head = weights.head ?? weights.embedding;
  return {
    embedding: change(weights.embedding, "embedding"),
    finalNorm: weights.finalNorm,
    head: change(head, "head"),
    layers: weights.layers.map((layer) => ({
      ...layer,
      query: change(layer.query, "query"),
      key: change(layer.key, "key"),
      value: change(layer.value, "value"),
      output: change(layer.output, "output"),
      gate: change(layer.gate, "gate"),
      up: change(layer.up, "up"),
      down: change(layer.down, "down"),
    })),
  };
}

export function packed(values: Float32Array, kind: Kind): PackedTensor {
  // One block of numbers so small that float16 has no exponent for their scale.
  const some = values.map((x, i) => (i >= 32 && i < 64 ? x * 1e-6 : x));
  return new PackedTensor(kind, quantize(kind, some), values.length);
}

/** Log-probabilities of every id after each row, and after one token more. */
export function scores(decoder: Decoder, rows: readonly number[][]): number[][] {
  const open = rows.map(() => decoder.open());
  const { vocabSize } = decoder;
  const steps = [rows, rows.map(() => [5])].map((tokens) =>
    feed(
      decoder,
      tokens.map((line, i) => [open[i]!, line] as const),
    ),
  );
  for (const row of open) decoder.close(row);
  return steps.flatMap(({ topIds, topLogprobs }) =>
    rows.map((_, row) => {
      const all = new Array<number>(vocabSize);
      for (let i = row * vocabSize; i < (row + 1) * vocabSize; i++)
        all[topIds[i]!] = topLogprobs[i]!;
      return all;
    }),
  );
}

/** The same to rounding: to 1e-5 of what log-probabilities spread over. */
export function near(a: number[][], b: number[][]): void {
  for (const [i, row] of a.entries()) {
    const spread = Math.max(...row) - Math.min(...row);
    for (const [j, x] of row.entries()) {
      assert.ok(Math.abs(x - b[i]![j]!) < 1e-5 * spread, `${x} and ${b[i]![j]} of ${spread}`);
    }
  }
}

/** The compiled engines that are here. */
export const engines = [
  ...(nativeEngineExists() ? [["native", loadNativeEngine] as const] : []),
  ["wasm", loadWasmEngine] as const,
];
