import { unpackHalf } from "./half.js";
import type { StoredValues } from "./weight-file.js";

/** Stored values in single precision, all of them or a span; float32 is given as it lies there. */
export function wholeValues(
  values: StoredValues,
  from = 0,
  count = values.length - from,
): Float32Array {
  if (values instanceof Float32Array) return values.subarray(from, from + count);
  const widened = new Float32Array(count);
  if (values instanceof Uint16Array) {
    unpackHalf(values.subarray(from, from + count), "bfloat16", widened);
  } else values.unpack(from, widened);
  return widened;
}
