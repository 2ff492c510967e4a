/** The numbers behind their steps; a 0 comes back as 0, which a step of the range seldom hits exactly. */
export function unpackNumbers(steps: Uint16Array, low: number, high: number): Float32Array {
  const size = (high - low) / 65534;
  return Float32Array.from(steps, (step) => {
    if (step === 65535) return NaN;
    const value = low + step * size;
    return Math.abs(value) <= 0.5001 * size ? 0 : value;
  });
}
