/**
 * The capacity, in floats, that a block of `length` floats is allotted: at most an eighth more, so
 * that blocks of nearly one size can take each other's place.
 */
export function sizeClass(length: number): number {
  if (length <= 64) return 64;
  const step = 2 ** Math.max(4, Math.floor(Math.log2(length - 1)) - 3);
  return Math.ceil(length / step) * step;
}
