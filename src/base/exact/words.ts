const double = new Float64Array(1);
const words = new Uint32Array(double.buffer);
const high = new Uint8Array(Uint16Array.of(1).buffer)[0] === 1 ? 1 : 0;

/** The upper 32 bits of a double, as a signed number. */
export function highWord(x: number): number {
  double[0] = x;
  return words[high]! | 0;
}

/** A double of these upper and lower 32 bits. */
export function fromWords(upper: number, lower: number): number {
  words[high] = upper;
  words[1 - high] = lower;
  return double[0]!;
}

/** The lower 32 bits of a double. */
export function lowWord(x: number): number {
  double[0] = x;
  return words[1 - high]!;
}
