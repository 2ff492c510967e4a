// SHA-256 (FIPS 180-4): the browser's own gives only promises and takes only whole data.
import type * as node from "../node/sha256.js";

const primes: number[] = [];
for (let n = 2; primes.length < 64; n++) if (primes.every((p) => n % p !== 0)) primes.push(n);

/** The first 32 bits of the fraction of a prime's root, by whole numbers alone. */
function rootBits(prime: number, power: 2n | 3n): number {
  const target = BigInt(prime) << (32n * power);
  let root = 0n;
  for (let bit = 1n << 36n; bit > 0n; bit >>= 1n) if ((root + bit) ** power <= target) root += bit;
  return Number(root & 0xffffffffn);
}
const constants = Uint32Array.from(primes, (p) => rootBits(p, 3n));
const start = Uint32Array.from(primes.slice(0, 8), (p) => rootBits(p, 2n));

const turned = (x: number, by: number) => (x >>> by) | (x << (32 - by));

/** Takes the 64 bytes of the block from `at` into the state. */
function take(state: Uint32Array, block: DataView, at: number, words: Uint32Array): void {
  for (let i = 0; i < 16; i++) words[i] = block.getUint32(at + 4 * i);
  for (let i = 16; i < 64; i++) {
    const [a, b] = [words[i - 15]!, words[i - 2]!];
    const low = turned(a, 7) ^ turned(a, 18) ^ (a >>> 3);
    const high = turned(b, 17) ^ turned(b, 19) ^ (b >>> 10);
    words[i] = words[i - 16]! + low + words[i - 7]! + high;
  }
  let [a, b, c, d] = [state[0]!, state[1]!, state[2]!, state[3]!];
  let [e, f, g, h] = [state[4]!, state[5]!, state[6]!, state[7]!];
  for (let i = 0; i < 64; i++) {
    const first =
      h +
      (turned(e, 6) ^ turned(e, 11) ^ turned(e, 25)) +
      ((e & f) ^ (~e & g)) +
      constants[i]! +
      words[i]!;
    const second = (turned(a, 2) ^ turned(a, 13) ^ turned(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
    [h, g, f, e] = [g, f, e, (d + first) >>> 0];
    [d, c, b, a] = [c, b, a, (first + second) >>> 0];
  }
  [a, b, c, d, e, f, g, h].forEach((value, i) => (state[i]! += value));
}

export const sha256Of: typeof node.sha256Of = () => {
  const state = start.slice();
  const words = new Uint32Array(64);
  const rest = new Uint8Array(128);
  let held = 0;
  let length = 0;
  const view = (bytes: Uint8Array) =>
    new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return {
    update(piece) {
      const bytes = typeof piece === "string" ? new TextEncoder().encode(piece) : piece;
      length += bytes.length;
      let at = 0;
      if (held > 0) {
        at = Math.min(64 - held, bytes.length);
        rest.set(bytes.subarray(0, at), held);
        held += at;
        if (held < 64) return;
        take(state, view(rest), 0, words);
        held = 0;
      }
      for (; at + 64 <= bytes.length; at += 64) take(state, view(bytes), at, words);
      rest.set(bytes.subarray(at));
      held = bytes.length - at;
    },
    hex() {
      rest.fill(0, held);
      rest[held] = 0x80;
      const end = held < 56 ? 64 : 128;
      view(rest).setBigUint64(end - 8, BigInt(length) * 8n);
      for (let at = 0; at < end; at += 64) take(state, view(rest), at, words);
      return Array.from(state, (word) => word.toString(16).padStart(8, "0")).join("");
    },
  };
};

export const sha256: typeof node.sha256 = (...pieces) => {
  const hash = sha256Of();
  for (const piece of pieces) hash.update(piece);
  return hash.hex();
};
