/** A number in few characters. */
export function formatNumber(value: number): string {
  if (!Number.isFinite(value) || Number.isInteger(value)) {
    const text = String(value);
    return text.length <= 15 ? text : value.toExponential(4);
  }
  const exact = String(value);
  if (exact.length <= 8) return exact;
  const size = Math.abs(value);
  return size >= 1e-4 && size < 1e7 ? String(Number(value.toPrecision(5))) : value.toExponential(3);
}
