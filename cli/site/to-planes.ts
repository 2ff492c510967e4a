/**
 * The bytes of numbers of four bytes each in planes: all first bytes, then all second ones, and so on. A host packs
 * weights in this order by a sixth, because their exponents stand together.
 */
export function toPlanes(bytes: Uint8Array): Uint8Array {
  const planes = new Uint8Array(bytes.length);
  let at = 0;
  for (let k = 0; k < 4; k++) for (let i = k; i < bytes.length; i += 4) planes[at++] = bytes[i]!;
  return planes;
}
