/** A number of 32 bits in which every bit depends on every bit of the one given. */
function mixed(bits: number): number {
  let h = bits | 0;
  h = Math.imul(h ^ (h >>> 16), 0x7feb352d);
  h = Math.imul(h ^ (h >>> 15), 0x846ca68b);
  return h ^ (h >>> 16);
}

/**
 * Stochastic rounding in place: each value becomes one of its two nearest bfloat16 values, the nearer one more often, so that the
 * mean over many draws is the value itself. The same values, step and place give the same bits.
 */
export function stochasticRoundBfloat16(values: Float32Array, step: number, place: number): void {
  const words = new Uint32Array(values.buffer, values.byteOffset, values.length);
  const key = mixed(Math.imul(step, 0x9e3779b1) ^ mixed(place + 1));
  for (let i = 0; i < words.length; i++) {
    const word = words[i]!;
    // NaN and infinity stay as they are.
    if ((word & 0x7f800000) === 0x7f800000) continue;
    words[i] = (word + (mixed(i ^ key) & 0xffff)) & 0xffff0000;
  }
}
