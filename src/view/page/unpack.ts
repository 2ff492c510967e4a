import type { PackedNumbers } from "../pack.js";
import { unpackNumbers } from "./unpack-numbers.js";

/** The bytes behind base64. */
export function bytesOf(data: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(atob(data), (c) => c.charCodeAt(0));
}

/** The whole numbers behind base64: 32 bits each if `wide`, otherwise 16. */
export function integersOf(data: string, wide: boolean): Uint16Array | Uint32Array {
  const { buffer } = bytesOf(data);
  return wide ? new Uint32Array(buffer) : new Uint16Array(buffer);
}

/** The numbers that `packNumbers` packed. */
export function numbersOf({ low, high, data }: PackedNumbers): Float32Array {
  return unpackNumbers(new Uint16Array(bytesOf(data).buffer), low, high);
}
