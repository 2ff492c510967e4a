import * as exact from "../../exact/index.js";
import { allocateSamples, checkStep, notFinite } from "./check-step.js";
import type { EngineFunctions } from "../../tensor/engine/engine-functions.js";
import { loadWeights } from "./engine-load.js";
import {
  type CacheType,
  cacheTypes,
  checkWeights,
  type DecoderShape,
  type DecoderType,
  decoderTypes,
  type DecoderWeights,
} from "./weights.js";
import { type StoredValues, wholeValues } from "../files/weight-file.js";
import type { Decoder, Sampled, StepSampling } from "./decoder.js";
import type { Extension } from "./pages.js";
import { PAGE_SIZE, Pages } from "./pages.js";

/** Memory kept for the next sequences when none is open; a long rollout's cache goes back to the system. */
const KEPT_BYTES = 16 * 2 ** 20;

/**
 * The decoder of the compiled engine, native or wasm: one call per step for the whole model.
 *
 * Here are the accounts: which sequence has which pages, what is shared, what must be copied before it is
 * written. Weights, cache and arithmetic are in native/src/model/decoder.cc; logits never come to JavaScript.
 */
export class EngineDecoder implements Decoder {
  readonly vocabSize: number;
  readonly contextLength: number;
  rounded?: Decoder["rounded"];
  readonly #kernels: EngineFunctions;
  readonly #shape: DecoderShape;
  readonly #source: () => DecoderWeights<StoredValues>;
  readonly #type: DecoderType;
  readonly #pageBytes: number;
  /** Token ids per page, for the repetition penalty. */
  readonly #ids = new Map<number, Int32Array>();
  readonly #pages = new Pages((page) => this.#ids.delete(page));
  #decoder: number;
  #embedding: StoredValues;
  /** Positions whose cosines and sines the engine has. */
  #ropeTableSize = 0;

  /** With another type than float32, matrices may also be given as the bits of bfloat16 or in blocks. */
  constructor(
    kernels: EngineFunctions,
    shape: DecoderShape,
    source: () => DecoderWeights<StoredValues>,
    type: DecoderType = "float32",
    cache: CacheType = "float32",
  ) {
    const weights = source();
    checkWeights(shape, weights);
    const { vocabSize, hidden, layers, heads, kvHeads, headDim, feedForward, normEps } = shape;
    this.#kernels = kernels;
    this.#shape = shape;
    this.#source = source;
    this.#type = type;
    if (type !== "float32") this.rounded = type;
    else if (cache !== "float32") this.rounded = cache;
    this.vocabSize = vocabSize;
    this.contextLength = shape.contextLength;
    this.#decoder = kernels.decoder_create(
      Int32Array.of(
        ...[vocabSize, hidden, layers, heads, kvHeads, headDim, feedForward],
        decoderTypes.indexOf(type),
        cacheTypes.indexOf(cache),
      ),
      normEps,
    );
    this.#pageBytes = kernels.decoder_page_bytes(this.#decoder);
    this.#embedding = weights.embedding;
    try {
      this.#load(weights);
    } catch (error) {
      this.dispose();
      throw error;
    }
  }

  open(): number {
    this.#alive();
    return this.#pages.open();
  }

  fork(sequence: number): number {
    return this.#pages.fork(sequence);
  }

  truncate(sequence: number, length: number): void {
    this.#pages.truncate(sequence, length);
  }

  close(sequence: number): void {
    this.#pages.close(sequence);
    if (this.#pages.used === 0) {
      this.#kernels.decoder_trim(this.#decoder, Math.floor(KEPT_BYTES / this.#pageBytes));
    }
  }

  length(sequence: number): number {
    return this.#pages.length(sequence);
  }

  step(
    sequences: Int32Array,
    tokens: Int32Array,
    offsets: Int32Array,
    sampling: StepSampling,
  ): Sampled {
    this.#alive();
    checkStep({ sequences, tokens, offsets, sampling }, this, (sequence) => this.length(sequence));
    const count = sequences.length;
    const { top } = sampling;
    const out = allocateSamples(count, top);
    const extensions: Extension[] = [];
    for (let i = 0; i < count; i++) {
      extensions.push(this.#pages.extend(sequences[i]!, offsets[i + 1]! - offsets[i]!));
    }
    let bad: number;
    try {
      bad = this.#call(extensions, tokens, offsets, sampling, out);
    } catch (error) {
      for (const extension of extensions) this.#pages.rollBack(extension);
      throw error;
    }
    if (bad >= 0) {
      for (const extension of extensions) this.#pages.rollBack(extension);
      throw notFinite(sequences[bad]!);
    }
    for (const extension of extensions) this.#pages.commit(extension);
    return out;
  }

  refresh(): void {
    this.#alive();
    if (this.#pages.sequences > 0) {
      throw new Error(
        `Cannot refresh the weights: no sequence may be open, got ${this.#pages.sequences} open sequences`,
      );
    }
    const weights = this.#source();
    checkWeights(this.#shape, weights);
    this.#load(weights);
  }

  bytes(): number {
    return this.#pages.used * this.#pageBytes;
  }

  dispose(): void {
    if (this.#decoder === 0) return;
    this.#kernels.decoder_destroy(this.#decoder);
    this.#decoder = 0;
  }

  #alive(): void {
    if (this.#decoder === 0) throw new Error("Cannot decode: the decoder has been disposed of");
  }

  #load(weights: DecoderWeights<StoredValues>): void {
    this.#embedding = weights.embedding;
    loadWeights(this.#kernels, this.#decoder, this.#shape, weights, this.#type);
  }

  #call(
    extensions: readonly Extension[],
    tokens: Int32Array,
    offsets: Int32Array,
    sampling: StepSampling,
    out: Sampled,
  ): number {
    const count = extensions.length;
    const from = new Int32Array(count);
    const pageOffsets = new Int32Array(count + 1);
    const pages: number[] = [];
    const copies: number[] = [];
    const seen: number[] = [];
    const seenOffsets = new Int32Array(count + 1);
    let furthest = 0;
    for (let i = 0; i < count; i++) {
      const extension = extensions[i]!;
      from[i] = extension.from;
      for (const page of extension.pages) pages.push(page);
      pageOffsets[i + 1] = pages.length;
      if (extension.copy) copies.push(extension.copy[0], extension.copy[1]);
      this.#recordTokens(extension, tokens.subarray(offsets[i], offsets[i + 1]));
      if (sampling.repetitionPenalty[i] !== 1) this.#collect(extension, seen);
      seenOffsets[i + 1] = seen.length;
      if (extension.to > furthest) furthest = extension.to;
    }
    this.#ensureRopeTable(furthest);
    return this.#kernels.decoder_step(
      this.#decoder,
      this.#embed(tokens),
      offsets,
      from,
      count,
      Int32Array.from(pages),
      pageOffsets,
      Int32Array.from(copies),
      copies.length / 2,
      sampling.temperature,
      sampling.topK,
      sampling.topP,
      sampling.minP,
      sampling.repetitionPenalty,
      sampling.uniform,
      sampling.allowed ?? null,
      Int32Array.from(seen),
      seenOffsets,
      sampling.top,
      out.tokens,
      out.logprobs,
      out.entropies,
      out.topIds,
      out.topLogprobs,
    );
  }

  #embed(tokens: Int32Array): Float32Array {
    const { hidden } = this.#shape;
    const embedded = new Float32Array(tokens.length * hidden);
    for (let i = 0; i < tokens.length; i++) {
      const at = tokens[i]! * hidden;
      embedded.set(wholeValues(this.#embedding, at, hidden), i * hidden);
    }
    return embedded;
  }

  /** Remembers a sequence's new tokens with its pages. */
  #recordTokens({ pages, from, copy }: Extension, tokens: Int32Array): void {
    if (copy) this.#ids.set(copy[1], this.#ids.get(copy[0])!.slice());
    for (let i = 0; i < tokens.length; i++) {
      const page = pages[Math.floor((from + i) / PAGE_SIZE)]!;
      let ids = this.#ids.get(page);
      if (!ids) this.#ids.set(page, (ids = new Int32Array(PAGE_SIZE)));
      ids[(from + i) % PAGE_SIZE] = tokens[i]!;
    }
  }

  #collect({ pages, to }: Extension, seen: number[]): void {
    for (let i = 0; i < to; i++) {
      seen.push(this.#ids.get(pages[Math.floor(i / PAGE_SIZE)]!)![i % PAGE_SIZE]!);
    }
  }

  /** Makes sure that the engine has the rotary angles of the first `positions` positions. */
  #ensureRopeTable(positions: number): void {
    if (positions <= this.#ropeTableSize) return;
    const { headDim, inverseFrequencies, contextLength } = this.#shape;
    const half = headDim / 2;
    let size = Math.max(256, this.#ropeTableSize);
    while (size < positions) size *= 2;
    size = Math.min(size, contextLength);
    const cos = new Float32Array(size * half);
    const sin = new Float32Array(size * half);
    for (let position = 0, i = 0; position < size; position++) {
      for (let d = 0; d < half; d++, i++) {
        const angle = position * inverseFrequencies[d]!;
        cos[i] = exact.cos(angle);
        sin[i] = exact.sin(angle);
      }
    }
    this.#kernels.decoder_load_rope(this.#decoder, cos, sin, size);
    this.#ropeTableSize = size;
  }
}
