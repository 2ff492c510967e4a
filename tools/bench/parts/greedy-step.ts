import type { Decoder, Sampled } from "../../../src/model/decoder/decoder.js";

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
