const m = 0x5bd1e995;

/** MurmurHash2 of a text's UTF-8: what front ends name a cell's file by. */
export function murmur2(text: string, seed: number): number {
  const data = new TextEncoder().encode(text);
  let h = seed ^ data.length;
  let i = 0;
  for (; data.length - i >= 4; i += 4) {
    let k = data[i]! | (data[i + 1]! << 8) | (data[i + 2]! << 16) | (data[i + 3]! << 24);
    k = Math.imul(k, m);
    k = Math.imul(k ^ (k >>> 24), m);
    h = Math.imul(h, m) ^ k;
  }
  const rest = data.length - i;
  if (rest >= 3) h ^= data[i + 2]! << 16;
  if (rest >= 2) h ^= data[i + 1]! << 8;
  if (rest >= 1) h = Math.imul(h ^ data[i]!, m);
  h = Math.imul(h ^ (h >>> 13), m);
  return (h ^ (h >>> 15)) >>> 0;
}
