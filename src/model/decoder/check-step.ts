import type { Sampled, StepSampling } from "./decoder.js";

/** What a decoder must know of a step before it starts. */
interface StepRequest {
  sequences: Int32Array;
  tokens: Int32Array;
  offsets: Int32Array;
  sampling: StepSampling;
}

/** Throws unless every part of a step is in range, before anything has changed. */
export function checkStep(
  { sequences, tokens, offsets, sampling }: StepRequest,
  { vocabSize, contextLength }: { vocabSize: number; contextLength: number },
  lengthOf: (sequence: number) => number,
): void {
  const count = sequences.length;
  if (offsets.length !== count + 1 || offsets[0] !== 0 || offsets[count] !== tokens.length) {
    throw new RangeError(
      `Cannot decode: offsets must run from 0 to the number of tokens (${tokens.length}) in ${count + 1} entries, got [${offsets.join(", ")}]`,
    );
  }
  const seen = new Set<number>();
  for (let i = 0; i < count; i++) {
    const sequence = sequences[i]!;
    if (seen.has(sequence))
      throw new RangeError(`Cannot decode: a sequence may be listed once, got ${sequence}`);
    seen.add(sequence);
    const fed = offsets[i + 1]! - offsets[i]!;
    if (fed < 1) {
      throw new RangeError(
        `Cannot decode: sequence ${sequence} must be fed at least one token, got ${fed}`,
      );
    }
    const length = lengthOf(sequence) + fed;
    if (length > contextLength) {
      throw new RangeError(
        `Cannot decode: sequence ${sequence} must stay within the context of ${contextLength} tokens, got ${length}`,
      );
    }
  }
  for (const token of tokens) {
    if (token < 0 || token >= vocabSize) {
      throw new RangeError(
        `Cannot decode: token ids must be from 0 to ${vocabSize - 1}, got ${token}`,
      );
    }
  }
  for (const name of [
    "temperature",
    "topK",
    "topP",
    "minP",
    "repetitionPenalty",
    "uniform",
  ] as const) {
    if (sampling[name].length !== count) {
      throw new RangeError(
        `Cannot decode: sampling.${name} must have an entry for each of ${count} sequences, got ${sampling[name].length}`,
      );
    }
  }
  const { allowed, allowedAt, constrained } = sampling;
  for (const list of [allowedAt, constrained]) {
    if (list === undefined || list.length === count) continue;
    throw new RangeError(
      `Cannot decode: masks must be named for each of ${count} sequences, got ${list.length}`,
    );
  }
  const masks = allowedAt?.reduce((most, at) => Math.max(most, at + 1), 0) ?? 1;
  const words = masks * Math.ceil(vocabSize / 32);
  if (masks > 0 && (allowed ? allowed.length < words : allowedAt !== undefined)) {
    throw new RangeError(
      `Cannot decode: the masks of allowed ids must have ${words} words, got ${allowed?.length ?? "none"}`,
    );
  }
  if (!Number.isInteger(sampling.top) || sampling.top < 0 || sampling.top > vocabSize) {
    throw new RangeError(
      `Cannot decode: top must be an integer from 0 to ${vocabSize}, got ${sampling.top}`,
    );
  }
}

/** The error for a sequence whose logits are NaN or infinite. */
export function notFinite(sequence: number): Error {
  return new RangeError(
    `Cannot decode: the logits must be finite numbers, got NaN or infinity in sequence ${sequence}; the weights hold NaN or have grown out of range`,
  );
}

/** The mask of a sequence's allowed ids; undefined: every id. */
export function allowedOf(
  { allowed, allowedAt }: StepSampling,
  i: number,
  vocabSize: number,
): Uint32Array | undefined {
  const at = allowedAt?.[i] ?? 0;
  const words = Math.ceil(vocabSize / 32);
  return at < 0 ? undefined : allowed?.subarray(at * words, (at + 1) * words);
}

/** Words of the support of a sequence: none where no sequence of the step has tokens cut off. */
export function supportWords(sampling: StepSampling, vocabSize: number): number {
  const { temperature, topK, topP, minP, constrained } = sampling;
  const cuts = temperature.some(
    (t, i) =>
      t > 0 &&
      ((topK[i]! > 0 && topK[i]! < vocabSize) ||
        topP[i]! < 1 ||
        minP[i]! > 0 ||
        constrained?.[i] === 1),
  );
  return cuts ? Math.ceil(vocabSize / 32) : 0;
}

/** Room for what a step of so many sequences chooses, each with its `top` most likely tokens and its support. */
export const allocateSamples = (sequences: number, top: number, words: number): Sampled => ({
  tokens: new Int32Array(sequences),
  logprobs: new Float32Array(sequences),
  entropies: new Float32Array(sequences),
  topIds: new Int32Array(sequences * top),
  topLogprobs: new Float32Array(sequences * top),
  support: new Uint32Array(sequences * words),
  supportLogprobs: new Float32Array(sequences),
});
