/** Whether two arrays of the same length hold the same bytes, eight bytes at a time where they lie alike. */
export function sameBytes(one: Uint8Array, other: Uint8Array): boolean {
  const { length } = one;
  let at = 0;
  if (one.byteOffset % 8 === 0 && other.byteOffset % 8 === 0) {
    const words = length >> 3;
    const [a, b] = [one, other].map((x) => new BigUint64Array(x.buffer, x.byteOffset, words));
    for (let i = 0; i < words; i++) if (a![i] !== b![i]) return false;
    at = words * 8;
  }
  for (; at < length; at++) if (one[at] !== other[at]) return false;
  return true;
}
