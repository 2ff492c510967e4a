import * as exact from "../../base/exact/index.js";
import { allocateSamples, allowedOf, notFinite, supportWords } from "./check-step.js";
import { packHalf, unpackHalf } from "../files/half.js";
import {
  type CacheType,
  checkWeights,
  type DecoderLayerWeights,
  type DecoderShape,
  type DecoderWeights,
  rotaryTables,
  type WeightsSource,
} from "./weights.js";
import type { Sampled, Step } from "./decoder.js";
import { PagedDecoder } from "./paged-decoder.js";
import { type Extension, PAGE_SIZE } from "./pages.js";
import { sample } from "./sample.js";

/** GELU in its tanh form is x sigmoid(this (x + 0.044715 x^3)). */
const GELU = 1.5957691216057308;

/** The decoder in plain code, one token at a time: right on every machine, fast on none. */
export class PlainDecoder extends PagedDecoder {
  readonly #source: WeightsSource;
  readonly #rotary: ReturnType<typeof rotaryTables>;
  #weights: DecoderWeights;
  /** Per page: keys and values of every layer. */
  readonly #contents = new Map<number, Float32Array>();
  protected readonly disposed = false;

  constructor(shape: DecoderShape, source: WeightsSource, cache: CacheType = "float32") {
    super(shape, (page) => this.#contents.delete(page));
    if (cache !== "float32") this.rounded = cache;
    this.#source = source;
    this.#rotary = rotaryTables(shape);
    this.#weights = source();
    checkWeights(shape, this.#weights);
  }

  step(...step: Step): Sampled {
    const extensions = this.extend(...step);
    const [sequences, tokens, offsets, sampling] = step;
    const { top } = sampling;
    const words = supportWords(sampling, this.vocabSize);
    const out = allocateSamples(sequences.length, top, words);
    try {
      for (const [i, extension] of extensions.entries()) {
        const fed = tokens.subarray(offsets[i], offsets[i + 1]);
        this.#prepare(extension);
        this.pages.record(extension, fed);
        let state: Float64Array = new Float64Array(0);
        for (const [j, token] of fed.entries()) {
          state = this.#forward(token, extension.from + j, extension.pages);
        }
        const chosen = sample(this.#logits(state), {
          temperature: sampling.temperature[i]!,
          topK: sampling.topK[i]!,
          topP: sampling.topP[i]!,
          minP: sampling.minP[i]!,
          repetitionPenalty: sampling.repetitionPenalty[i]!,
          uniform: sampling.uniform[i]!,
          allowed: allowedOf(sampling, i, this.vocabSize),
          constrained: sampling.constrained?.[i] === 1,
          seen: this.pages.recorded(extension),
          top,
        });
        if (!Number.isFinite(chosen.logprob) || !Number.isFinite(chosen.entropy)) {
          throw notFinite(extension.sequence);
        }
        out.tokens[i] = chosen.token;
        out.logprobs[i] = chosen.logprob;
        out.entropies[i] = chosen.entropy;
        out.topIds.set(chosen.topIds, i * top);
        out.topLogprobs.set(chosen.topLogprobs, i * top);
        for (const id of chosen.support) out.support[i * words + (id >>> 5)]! |= 1 << (id & 31);
        out.supportLogprobs[i] = chosen.supportLogprob;
      }
    } catch (error) {
      this.rollBack(extensions);
      throw error;
    }
    this.commit(extensions);
    return out;
  }

  protected reload(): void {
    const weights = this.#source();
    checkWeights(this.shape, weights);
    this.#weights = weights;
  }

  bytes(): number {
    return this.pages.used * this.#pageFloats() * 4;
  }

  dispose(): void {
    this.#contents.clear();
  }

  #pageFloats(): number {
    const { layers, kvHeads, headDim } = this.shape;
    return layers * 2 * PAGE_SIZE * kvHeads * headDim;
  }

  #prepare({ pages, from, to, copy }: Extension): void {
    for (let i = Math.floor(from / PAGE_SIZE); i * PAGE_SIZE < to; i++) {
      const page = pages[i]!;
      if (this.#contents.has(page)) continue;
      this.#contents.set(page, new Float32Array(this.#pageFloats()));
    }
    if (copy) this.#contents.get(copy[1])!.set(this.#contents.get(copy[0])!);
  }

  /** Writes a token's keys and values and returns its last hidden state. */
  #forward(token: number, position: number, pages: readonly number[]): Float64Array {
    const { hidden } = this.shape;
    const { embedding, layers } = this.#weights;
    const { embeddingScale = 1, normEps, activation } = this.shape;
    const x = Float64Array.from(embedding.subarray(token * hidden, (token + 1) * hidden));
    for (const i of x.keys()) x[i]! *= embeddingScale;
    const found = (values: Float64Array, norm?: Float32Array) =>
      add(x, norm ? normed(values, norm, normEps) : values);
    for (const [l, layer] of layers.entries()) {
      const seen = this.#attend(layer, l, normed(x, layer.inputNorm, normEps), position, pages);
      found(seen, layer.attendedNorm);
      const h = normed(x, layer.postNorm, normEps);
      const gate = times(layer.gate, h, layer.gateBias);
      const up = times(layer.up, h, layer.upBias);
      for (let i = 0; i < gate.length; i++) {
        const g = gate[i]!;
        const inner = activation === undefined ? g : GELU * (g + 0.044715 * g ** 3);
        gate[i] = (g / (1 + exact.exp(-inner))) * up[i]!;
      }
      found(times(layer.down, gate, layer.downBias), layer.foundNorm);
    }
    return x;
  }

  #attend(
    layer: DecoderLayerWeights,
    index: number,
    h: Float64Array,
    position: number,
    pages: readonly number[],
  ): Float64Array {
    const { heads, kvHeads, headDim } = this.shape;
    const width = kvHeads * headDim;
    const query = times(layer.query, h, layer.queryBias);
    const key = times(layer.key, h, layer.keyBias);
    const value = times(layer.value, h, layer.valueBias);
    this.#rotate(index, query, position, layer.queryNorm);
    this.#rotate(index, key, position, layer.keyNorm);
    const own = this.#contents.get(pages[Math.floor(position / PAGE_SIZE)]!)!;
    const at = (index * 2 * PAGE_SIZE + (position % PAGE_SIZE)) * width;
    own.set(key, at);
    own.set(value, at + PAGE_SIZE * width);
    if (this.rounded) {
      for (const from of [at, at + PAGE_SIZE * width]) roundHalf(own.subarray(from, from + width));
    }

    const first = Math.max(0, position + 1 - (this.shape.kinds?.[index]?.window ?? Infinity));
    const mixed = new Float64Array(heads * headDim);
    const scores = new Float64Array(position + 1);
    for (let head = 0; head < heads; head++) {
      const shift = Math.floor((head * kvHeads) / heads) * headDim;
      let max = -Infinity;
      for (let t = first; t <= position; t++) {
        const page = this.#contents.get(pages[Math.floor(t / PAGE_SIZE)]!)!;
        const start = (index * 2 * PAGE_SIZE + (t % PAGE_SIZE)) * width + shift;
        let dot = 0;
        for (let d = 0; d < headDim; d++) dot += query[head * headDim + d]! * page[start + d]!;
        scores[t] = dot / Math.sqrt(headDim);
        max = Math.max(max, scores[t]!);
      }
      let sum = 0;
      for (let t = first; t <= position; t++) sum += scores[t] = exact.exp(scores[t]! - max);
      for (let t = first; t <= position; t++) {
        const page = this.#contents.get(pages[Math.floor(t / PAGE_SIZE)]!)!;
        const start = (index * 2 * PAGE_SIZE + PAGE_SIZE + (t % PAGE_SIZE)) * width + shift;
        const share = scores[t]! / sum;
        for (let d = 0; d < headDim; d++) mixed[head * headDim + d]! += share * page[start + d]!;
      }
    }
    return times(layer.output, mixed, layer.outputBias);
  }

  /** Norms each head where the model asks for it, then turns it by its position. */
  #rotate(layer: number, vectors: Float64Array, position: number, norm?: Float32Array): void {
    const { headDim, normEps } = this.shape;
    const { tables, of } = this.#rotary;
    const { inverseFrequencies, magnitude } = tables[of[layer]!]!;
    const half = headDim / 2;
    for (let start = 0; start < vectors.length; start += headDim) {
      const head = vectors.subarray(start, start + headDim);
      if (norm) head.set(normed(head, norm, normEps));
      for (let i = 0; i < half; i++) {
        const angle = position * inverseFrequencies[i]!;
        const [cos, sin] = [magnitude * exact.cos(angle), magnitude * exact.sin(angle)];
        const [a, b] = [head[i]!, head[i + half]!];
        head[i] = a * cos - b * sin;
        head[i + half] = b * cos + a * sin;
      }
    }
  }

  #logits(state: Float64Array): Float32Array {
    const { embedding, head, finalNorm } = this.#weights;
    return Float32Array.from(
      times(head ?? embedding, normed(state, finalNorm, this.shape.normEps)),
    );
  }
}

/** To the nearest float16 in place, the largest one for what is larger. */
function roundHalf(values: Float32Array): void {
  for (let i = 0; i < values.length; i++) values[i] = Math.min(65504, Math.max(-65504, values[i]!));
  unpackHalf(packHalf(values, "float16"), "float16", values);
}

function normed(x: Float64Array, weight: Float32Array, eps: number): Float64Array {
  let squares = 0;
  for (const v of x) squares += v * v;
  const scale = 1 / Math.sqrt(squares / x.length + eps);
  return x.map((v, i) => v * scale * weight[i]!);
}

/** matrix [out, in] times x, plus a bias. */
function times(matrix: Float32Array, x: Float64Array, bias?: Float32Array): Float64Array {
  const out = new Float64Array(matrix.length / x.length);
  for (let o = 0, w = 0; o < out.length; o++) {
    let sum = bias?.[o] ?? 0;
    for (let i = 0; i < x.length; i++) sum += matrix[w++]! * x[i]!;
    out[o] = sum;
  }
  return out;
}

function add(x: Float64Array, y: Float64Array): void {
  for (let i = 0; i < x.length; i++) x[i]! += y[i]!;
}
