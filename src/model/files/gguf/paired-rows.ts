import { architectures } from "../../architectures/registry.js";
import type { ModelConfig } from "../../config.js";

/** How many heads a weight's rows are shared by where llama.cpp has them in another order. */
export function pairedHeads(name: string, config: ModelConfig): number | undefined {
  if (architectures.get(config.family)?.pairsRows !== true) return undefined;
  if (/\.self_attn\.q_proj\.(weight|bias)$/.test(name)) return config.heads;
  if (/\.self_attn\.k_proj\.(weight|bias)$/.test(name)) return config.kvHeads;
  return undefined;
}

/** What is added to each number of a weight in GGUF files: llama.cpp's norms multiply by the weight alone. */
export const addedThere = (name: string, { normOffset }: ModelConfig): number =>
  /norm\.weight$/.test(name) ? (normOffset ?? 0) : 0;

/** Numbers, or the bytes that rows of them are packed in. */
type Rows = Float32Array | Uint8Array;

function reorder<T extends Rows>(
  values: T,
  heads: number,
  rows: number,
  place: (half: number, i: number, halves: number) => [from: number, to: number],
): T {
  const width = values.length / rows;
  const perHead = rows / heads;
  const out = values.slice() as T;
  for (let head = 0; head < heads; head++) {
    for (let half = 0; half < 2; half++) {
      for (let i = 0; i < perHead / 2; i++) {
        const [from, to] = place(half, i, perHead / 2).map((row) => (head * perHead + row) * width);
        out.set(values.subarray(from, from! + width), to);
      }
    }
  }
  return out;
}

/** Rows in Hugging Face's order, from llama.cpp's. */
export const unpairRows = <T extends Rows>(values: T, heads: number, rows: number): T =>
  reorder(values, heads, rows, (half, i, halves) => [2 * i + half, half * halves + i]);

/** Rows in llama.cpp's order, from Hugging Face's. */
export const pairRows = <T extends Rows>(values: T, heads: number, rows: number): T =>
  reorder(values, heads, rows, (half, i, halves) => [half * halves + i, 2 * i + half]);
