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
import { LinearStates, linearStep, type States } from "./linear-states.js";
import type { Products } from "./engine-products.js";
import { PagedDecoder } from "./paged-decoder.js";
import { type Extension, PAGE_SIZE } from "./pages.js";
import { sample } from "./sample.js";

/** GELU in its tanh form is x sigmoid(this (x + 0.044715 x^3)). */
const GELU = 1.5957691216057308;

/** Tokens that go through the layers together. */
const TOGETHER = 64;

/** A token's place in a sequence. */
interface Place {
  token: number;
  position: number;
  pages: readonly number[];
  states: States;
}

/** The decoder in plain code: right on every machine, fast on none. */
export class PlainDecoder extends PagedDecoder {
  readonly #source: WeightsSource;
  readonly #rotary: ReturnType<typeof rotaryTables>;
  readonly #times: Products;
  #weights: DecoderWeights;
  /** Per page: keys and values of every layer. */
  readonly #contents = new Map<number, Float32Array>();
  readonly #states: LinearStates | undefined;
  /** Each layer's place in a page; -1 for linear attention, which has no keys and values. */
  readonly #slots: readonly number[];
  protected readonly disposed = false;

  constructor(
    shape: DecoderShape,
    source: WeightsSource,
    cache: CacheType = "float32",
    products: Products = plainProducts,
  ) {
    super(shape, (page) => this.#contents.delete(page));
    if (cache !== "float32") this.rounded = cache;
    this.#source = source;
    this.#times = products;
    this.#rotary = rotaryTables(shape);
    let slots = 0;
    this.#slots = Array.from({ length: shape.layers }, (_, i) =>
      shape.linear?.layers[i] ? -1 : slots++,
    );
    if (shape.linear) this.#states = new LinearStates(shape.linear);
    this.#weights = source();
    checkWeights(shape, this.#weights);
  }

  override fork(sequence: number): number {
    const fork = super.fork(sequence);
    this.#states?.fork(sequence, fork);
    return fork;
  }

  override truncate(sequence: number, length: number): void {
    const cut = length < this.length(sequence);
    super.truncate(sequence, length);
    if (cut) this.#states?.forget(sequence);
  }

  override close(sequence: number): void {
    super.close(sequence);
    this.#states?.forget(sequence);
  }

  step(...step: Step): Sampled {
    const extensions = this.extend(...step);
    const [sequences, tokens, offsets, sampling] = step;
    const { top } = sampling;
    const words = supportWords(sampling, this.vocabSize);
    const out = allocateSamples(sequences.length, top, words);
    const read: States[] = [];
    try {
      const places: Place[] = [];
      for (const [i, extension] of extensions.entries()) {
        const fed = tokens.subarray(offsets[i], offsets[i + 1]);
        this.#prepare(extension);
        this.pages.record(extension, fed);
        const states = this.#before(extension);
        read.push(states);
        const { from, pages } = extension;
        for (const [j, token] of fed.entries()) {
          places.push({ token, position: from + j, pages, states });
        }
      }
      const hidden = this.#forward(places);
      const logits = this.#logits(extensions.map((_, i) => hidden[offsets[i + 1]! - 1]!));
      for (const [i, extension] of extensions.entries()) {
        const chosen = sample(logits[i]!, {
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
    for (const [i, { sequence }] of extensions.entries()) this.#states?.keep(sequence, read[i]!);
    return out;
  }

  /** What layers of linear attention remember of a sequence before a step, to be changed by the step. */
  #before(extension: Extension): States {
    if (!this.#states) return [];
    const kept = this.#states.copy(extension.sequence);
    if (kept) return kept;
    // A new sequence, or one that was cut back: its tokens leave what they left before.
    const states = this.#states.fresh();
    const { pages, from } = extension;
    const tokens = [...this.pages.recorded({ ...extension, to: from })];
    this.#forward(tokens.map((token, position) => ({ token, position, pages, states })));
    return states;
  }

  protected reload(): void {
    const weights = this.#source();
    checkWeights(this.shape, weights);
    this.#weights = weights;
  }

  bytes(): number {
    return this.pages.used * this.#pageFloats() * 4 + (this.#states?.bytes() ?? 0);
  }

  dispose(): void {
    this.#contents.clear();
  }

  #pageFloats(): number {
    const { kvHeads, headDim } = this.shape;
    return this.#slots.filter((slot) => slot >= 0).length * 2 * PAGE_SIZE * kvHeads * headDim;
  }

  #prepare({ pages, from, to, copy }: Extension): void {
    for (let i = Math.floor(from / PAGE_SIZE); i * PAGE_SIZE < to; i++) {
      const page = pages[i]!;
      if (this.#contents.has(page)) continue;
      this.#contents.set(page, new Float32Array(this.#pageFloats()));
    }
    if (copy) this.#contents.get(copy[1])!.set(this.#contents.get(copy[0])!);
  }

  /** Writes keys and values of tokens, in order, and returns their last hidden states. */
  #forward(places: readonly Place[]): Float64Array[] {
    const all: Float64Array[] = [];
    for (let i = 0; i < places.length; i += TOGETHER) {
      all.push(...this.#together(places.slice(i, i + TOGETHER)));
    }
    return all;
  }

  /** The same of so many that they go through each layer together: each matrix is read once for them. */
  #together(places: readonly Place[]): Float64Array[] {
    const { embedding, layers } = this.#weights;
    const { hidden, embeddingScale = 1, normEps, activation } = this.shape;
    const xs = places.map(({ token }) => {
      const x = Float64Array.from(embedding.subarray(token * hidden, (token + 1) * hidden));
      for (const i of x.keys()) x[i]! *= embeddingScale;
      return x;
    });
    const norms = (norm: Float32Array) => xs.map((x) => normed(x, norm, normEps));
    const found = (values: readonly Float64Array[], norm?: Float32Array) => {
      for (const [i, x] of xs.entries()) {
        add(x, norm ? normed(values[i]!, norm, normEps) : values[i]!);
      }
    };
    for (const [l, layer] of layers.entries()) {
      const given = norms(layer.inputNorm);
      const linear = this.#slots[l]! < 0;
      const seen = linear
        ? this.#recall(layer, l, given, places)
        : this.#attention(layer, l, given, places);
      found(seen, layer.attendedNorm);
      const h = norms(layer.postNorm);
      const gates = this.#times(layer.gate, h, layer.gateBias);
      const ups = this.#times(layer.up, h, layer.upBias);
      for (const [row, gate] of gates.entries()) {
        const up = ups[row]!;
        for (let i = 0; i < gate.length; i++) {
          const g = gate[i]!;
          const inner = activation === undefined ? g : GELU * (g + 0.044715 * g ** 3);
          gate[i] = (g / (1 + exact.exp(-inner))) * up[i]!;
        }
      }
      found(this.#times(layer.down, gates, layer.downBias), layer.foundNorm);
    }
    return xs;
  }

  /** Linear attention at the next positions of sequences. */
  #recall(
    layer: DecoderLayerWeights,
    index: number,
    h: readonly Float64Array[],
    places: readonly Place[],
  ): Float64Array[] {
    const weights = layer as Required<DecoderLayerWeights>;
    const { linear, normEps } = this.shape;
    const mixed = this.#times(weights.mix, h);
    const gate = this.#times(weights.mixGate, h);
    const beta = this.#times(weights.mixBeta, h);
    const decay = this.#times(weights.mixDecay, h);
    const answers = places.map(({ states }, i) => {
      const inputs = { mixed: mixed[i]!, gate: gate[i]!, beta: beta[i]!, decay: decay[i]! };
      return linearStep(linear!, weights, inputs, states[index]!, normEps);
    });
    return this.#times(weights.mixOutput, answers);
  }

  #attention(
    layer: DecoderLayerWeights,
    index: number,
    h: readonly Float64Array[],
    places: readonly Place[],
  ): Float64Array[] {
    const { headDim, gatedAttention } = this.shape;
    const asked = this.#times(layer.query, h, layer.queryBias);
    const keys = this.#times(layer.key, h, layer.keyBias);
    const values = this.#times(layer.value, h, layer.valueBias);
    const mixed = places.map((place, i) => {
      const both = asked[i]!;
      // A head's query, then its gate.
      const side = (which: number) => both.filter((_, d) => Math.floor(d / headDim) % 2 === which);
      const query = gatedAttention ? side(0) : both;
      this.#rotate(index, query, place.position, layer.queryNorm);
      this.#rotate(index, keys[i]!, place.position, layer.keyNorm);
      const seen = this.#attend(index, query, keys[i]!, values[i]!, place);
      if (gatedAttention) {
        for (const [d, gate] of side(1).entries()) seen[d]! /= 1 + exact.exp(-gate);
      }
      return seen;
    });
    return this.#times(layer.output, mixed, layer.outputBias);
  }

  /** Keeps a position's key and value, and gives what its query finds. */
  #attend(
    index: number,
    query: Float64Array,
    key: Float64Array,
    value: Float64Array,
    { position, pages }: Place,
  ): Float64Array {
    const { heads, kvHeads, headDim } = this.shape;
    const width = kvHeads * headDim;
    const own = this.#contents.get(pages[Math.floor(position / PAGE_SIZE)]!)!;
    const slot = this.#slots[index]!;
    const at = (slot * 2 * PAGE_SIZE + (position % PAGE_SIZE)) * width;
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
        const start = (slot * 2 * PAGE_SIZE + (t % PAGE_SIZE)) * width + shift;
        let dot = 0;
        for (let d = 0; d < headDim; d++) dot += query[head * headDim + d]! * page[start + d]!;
        scores[t] = dot / Math.sqrt(headDim);
        max = Math.max(max, scores[t]!);
      }
      let sum = 0;
      for (let t = first; t <= position; t++) sum += scores[t] = exact.exp(scores[t]! - max);
      for (let t = first; t <= position; t++) {
        const page = this.#contents.get(pages[Math.floor(t / PAGE_SIZE)]!)!;
        const start = (slot * 2 * PAGE_SIZE + PAGE_SIZE + (t % PAGE_SIZE)) * width + shift;
        const share = scores[t]! / sum;
        for (let d = 0; d < headDim; d++) mixed[head * headDim + d]! += share * page[start + d]!;
      }
    }
    return mixed;
  }

  /** Norms each head where the model asks for it, then turns it by its position. */
  #rotate(layer: number, vectors: Float64Array, position: number, norm?: Float32Array): void {
    const { headDim, normEps } = this.shape;
    const { tables, of } = this.#rotary;
    const { inverseFrequencies, magnitude } = tables[of[layer]!]!;
    // What is behind the first 2 * half numbers is not turned.
    const half = inverseFrequencies.length;
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

  #logits(states: readonly Float64Array[]): Float32Array[] {
    const { embedding, head, finalNorm } = this.#weights;
    const last = states.map((state) => normed(state, finalNorm, this.shape.normEps));
    return this.#times(head ?? embedding, last).map((values) => Float32Array.from(values));
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

const plainProducts: Products = (matrix, vectors, bias) =>
  vectors.map((x) => times(matrix, x, bias));

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
