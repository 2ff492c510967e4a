import { toBase64 } from "#platform/bytes";
import type { Tokenizer } from "../../model/tokenizer/tokenizer.js";

/** Numbers as base64 of 16-bit steps from `low` to `high`; the last step is NaN. */
export interface PackedNumbers {
  low: number;
  high: number;
  data: string;
}

/** Whole numbers as base64, 32 bits each if `wide`, otherwise 16. */
export function packIntegers(values: ArrayLike<number>, wide: boolean): string {
  return toBase64(wide ? Uint32Array.from(values) : Uint16Array.from(values));
}

/** Numbers in 65,535 equal steps over their own range; what is not finite becomes NaN. */
export function packNumbers(values: ArrayLike<number>, limit = Infinity): PackedNumbers {
  let [low, high] = [Infinity, -Infinity];
  for (let i = 0; i < values.length; i++) {
    const value = Math.min(limit, values[i]!);
    if (!Number.isFinite(value)) continue;
    low = Math.min(low, value);
    high = Math.max(high, value);
  }
  if (low > high) [low, high] = [0, 0];
  const steps = new Uint16Array(values.length);
  const size = high > low ? 65534 / (high - low) : 0;
  for (let i = 0; i < values.length; i++) {
    const value = Math.min(limit, values[i]!);
    steps[i] = Number.isFinite(value) ? Math.round((value - low) * size) : 65535;
  }
  return { low, high, data: toBase64(steps) };
}

/** Texts of tokens in the order of their first use, and each token's place among them; without a tokenizer its number. */
export function packVocabulary(tokenizer: Tokenizer | undefined) {
  const vocabulary: string[] = [];
  const known = new Map<number, number>();
  const place = (id: number): number => {
    if (!tokenizer) return id;
    let at = known.get(id);
    if (at === undefined) known.set(id, (at = vocabulary.push(tokenizer.decode([id])) - 1));
    return at;
  };
  return { vocabulary, place };
}
