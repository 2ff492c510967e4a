import * as exact from "../../base/exact/index.js";
import { allocateSamples, notFinite, supportWords } from "./check-step.js";
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
  rotaryTables,
} from "./weights.js";
import { type StoredValues, wholeValues } from "../files/weight-file.js";
import type { Sampled, Step } from "./decoder.js";
import { PagedDecoder } from "./paged-decoder.js";
import type { Extension } from "./pages.js";

/** Memory kept for the next sequences when none is open; a long rollout's cache goes back to the system. */
const KEPT_BYTES = 16 * 2 ** 20;

/**
 * The decoder of the compiled engine, native or wasm: one call per step for the whole model. Weights, cache and
 * arithmetic are in native/src/model/decoder.cc; logits never come to JavaScript.
 */
export class EngineDecoder extends PagedDecoder {
  readonly #kernels: EngineFunctions;
  readonly #source: () => DecoderWeights<StoredValues>;
  readonly #type: DecoderType;
  readonly #pageBytes: number;
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
    super(shape);
    const weights = source();
    checkWeights(shape, weights);
    const { vocabSize, hidden, layers, heads, kvHeads, headDim, feedForward, normEps } = shape;
    this.#kernels = kernels;
    this.#source = source;
    this.#type = type;
    if (type !== "float32") this.rounded = type;
    else if (cache !== "float32") this.rounded = cache;
    this.#decoder = kernels.decoder_create(
      Int32Array.of(
        ...[vocabSize, hidden, layers, heads, kvHeads, headDim, feedForward],
        decoderTypes.indexOf(type),
        cacheTypes.indexOf(cache),
        shape.activation === undefined ? 0 : 1,
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

  override close(sequence: number): void {
    super.close(sequence);
    if (this.pages.used === 0) {
      this.#kernels.decoder_trim(this.#decoder, Math.floor(KEPT_BYTES / this.#pageBytes));
    }
  }

  step(...step: Step): Sampled {
    const extensions = this.extend(...step);
    const [sequences, , , sampling] = step;
    const words = supportWords(sampling, this.vocabSize);
    const out = allocateSamples(sequences.length, sampling.top, words);
    try {
      const bad = this.#call(extensions, step, out);
      if (bad >= 0) throw notFinite(sequences[bad]!);
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
    this.#load(weights);
  }

  bytes(): number {
    return this.pages.used * this.#pageBytes;
  }

  protected get disposed(): boolean {
    return this.#decoder === 0;
  }

  dispose(): void {
    if (this.disposed) return;
    this.#kernels.decoder_destroy(this.#decoder);
    this.#decoder = 0;
  }

  #load(weights: DecoderWeights<StoredValues>): void {
    this.#embedding = weights.embedding;
    loadWeights(this.#kernels, this.#decoder, this.shape, weights, this.#type);
  }

  #call(
    extensions: readonly Extension[],
    [, tokens, offsets, sampling]: Step,
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
      this.pages.record(extension, tokens.subarray(offsets[i], offsets[i + 1]));
      if (sampling.repetitionPenalty[i] !== 1) {
        for (const id of this.pages.recorded(extension)) seen.push(id);
      }
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
      sampling.allowedAt ?? null,
      sampling.constrained ?? null,
      Int32Array.from(seen),
      seenOffsets,
      sampling.top,
      out.tokens,
      out.logprobs,
      out.entropies,
      out.topIds,
      out.topLogprobs,
      out.support.length > 0 ? out.support : null,
      out.support.length > 0 ? out.supportLogprobs : null,
    );
  }

  #embed(tokens: Int32Array): Float32Array {
    const { hidden, embeddingScale = 1 } = this.shape;
    const embedded = new Float32Array(tokens.length * hidden);
    for (let i = 0; i < tokens.length; i++) {
      const at = tokens[i]! * hidden;
      embedded.set(wholeValues(this.#embedding, at, hidden), i * hidden);
    }
    if (embeddingScale !== 1) for (const i of embedded.keys()) embedded[i]! *= embeddingScale;
    return embedded;
  }

  /** Makes sure that the engine has the rotary angles of the first `positions` positions. */
  #ensureRopeTable(positions: number): void {
    if (positions <= this.#ropeTableSize) return;
    const { headDim, contextLength } = this.shape;
    const half = headDim / 2;
    let size = Math.max(256, this.#ropeTableSize);
    while (size < positions) size *= 2;
    size = Math.min(size, contextLength);
    for (const [table, { inverseFrequencies, magnitude }] of rotaryTables(
      this.shape,
    ).tables.entries()) {
      const cos = new Float32Array(size * half);
      const sin = new Float32Array(size * half);
      for (let position = 0, i = 0; position < size; position++) {
        for (let d = 0; d < half; d++, i++) {
          const angle = position * inverseFrequencies[d]!;
          cos[i] = magnitude * exact.cos(angle);
          sin[i] = magnitude * exact.sin(angle);
        }
      }
      this.#kernels.decoder_load_rope(this.#decoder, table, cos, sin, size);
    }
    this.#ropeTableSize = size;
  }
}
