// What is decoded by several programs in one run, all asked in turn, and their figures beside each other.
import type { Decoder, Sampled } from "../../../src/model/decoder/decoder.js";
import type { Figure } from "../figure.js";
import type { Decoding, Loaded } from "./real-baselines.js";

const rounds = 2;

export interface Decoded {
  prefill: number;
  /** Tokens per second of all sequences together, by how many there are. */
  decode: Record<string, number>;
  megabytes: number;
}

const better = (a: Decoded, b: Decoded): Decoded => ({
  prefill: Math.max(a.prefill, b.prefill),
  decode: Object.fromEntries(
    Object.entries(a.decode).map(([rows, speed]) => [rows, Math.max(speed, b.decode[rows]!)]),
  ),
  megabytes: Math.max(a.megabytes, b.megabytes),
});

/** All asked in turn; the faster of the rounds, which a busy machine disturbs less. */
export async function decoded(all: readonly Decoding[]): Promise<(Loaded & Decoded)[]> {
  let best: Decoded[] = [];
  for (let round = 0; round < rounds; round++) {
    const now: Decoded[] = [];
    for (const { process } of all) now.push((await process.ask()) as Decoded);
    best = now.map((x, i) => better(x, best[i] ?? x));
  }
  return all.map(({ loaded }, i) => ({ ...loaded, ...best[i]! }));
}

/** Each figure beside each baseline, or alone where there is none; `shares` of the machine's limit by figure. */
export function* compared<T extends Loaded & { megabytes: number }>(
  prefix: string,
  ours: T,
  baselines: readonly (T & { baseline: string })[],
  parts: Record<string, (m: T) => number>,
  shares: Readonly<Record<string, number>> = {},
): Iterable<Figure> {
  const all: typeof parts = { ...parts, memory_mb: (m) => m.megabytes };
  for (const [name, of] of Object.entries(all)) {
    const unit = name.endsWith("tok_s") ? "tok/s" : name.endsWith("_mb") ? "MB" : "s";
    const share = name in shares ? { share: shares[name]! } : {};
    const own = {
      ...{ name: `${prefix}.${name}`, value: of(ours), unit, backend: ours.backend },
      ...share,
    };
    if (baselines.length === 0) yield own;
    for (const baseline of baselines) {
      const beside = {
        baseline: `${baseline.baseline} ${baseline.version}`,
        baselineValue: of(baseline),
      };
      yield { ...own, ...beside, ratio: of(ours) / of(baseline) };
    }
  }
}

/** A step of a decoder that takes the likeliest tokens, and tells so many of the likeliest. */
export async function greedyStep(
  decoder: Decoder,
  open: readonly number[],
  given: readonly (readonly number[])[],
  top = 0,
): Promise<Sampled> {
  const offsets = Int32Array.of(0, ...given.map((_, i) => given.slice(0, i + 1).flat().length));
  return decoder.step(Int32Array.from(open), Int32Array.from(given.flat()), offsets, {
    temperature: new Float32Array(open.length),
    topK: new Int32Array(open.length),
    topP: new Float32Array(open.length).fill(1),
    minP: new Float32Array(open.length),
    repetitionPenalty: new Float32Array(open.length).fill(1),
    uniform: new Float64Array(open.length),
    top,
  });
}
