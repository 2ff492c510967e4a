import type { PackedNumbers } from "./pack.js";

/** The numbers behind their steps; a 0 comes back as 0, which a step of the range seldom hits exactly. */
export function unpackNumbers(steps: Uint16Array, low: number, high: number): Float32Array {
  const size = (high - low) / 65534;
  return Float32Array.from(steps, (step) => {
    if (step === 65535) return NaN;
    const value = low + step * size;
    return Math.abs(value) <= 0.5001 * size ? 0 : value;
  });
}

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
