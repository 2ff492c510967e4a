/** The compiled engine's functions for decoding (native/src/decoder.h and sampler.h). */
export interface DecoderKernels {
  decoder_create(shape: Int32Array, eps: number): number;
  decoder_destroy(decoder: number): void;
  decoder_load_layer(
    decoder: number,
    layer: number,
    inputNorm: Float32Array,
    query: Float32Array | null,
    key: Float32Array | null,
    value: Float32Array | null,
    queryBias: Float32Array | null,
    keyBias: Float32Array | null,
    valueBias: Float32Array | null,
    queryNorm: Float32Array | null,
    keyNorm: Float32Array | null,
    output: Float32Array | null,
    postNorm: Float32Array,
    gate: Float32Array | null,
    up: Float32Array | null,
    down: Float32Array | null,
  ): void;
  decoder_load_ends(decoder: number, finalNorm: Float32Array, head: Float32Array | null): void;
  decoder_load_rows(
    decoder: number,
    layer: number,
    matrix: number,
    first: number,
    rows: number,
    whole: Float32Array | null,
    half: Uint16Array | null,
  ): number;
  decoder_load_rope(decoder: number, cos: Float32Array, sin: Float32Array, positions: number): void;
  decoder_page_bytes(decoder: number): number;
  decoder_trim(decoder: number, pages: number): void;
  decoder_step(
    decoder: number,
    embedded: Float32Array,
    offsets: Int32Array,
    from: Int32Array,
    feeds: number,
    pages: Int32Array,
    pageOffsets: Int32Array,
    copies: Int32Array,
    copyCount: number,
    temperature: Float32Array,
    topK: Int32Array,
    topP: Float32Array,
    minP: Float32Array,
    penalty: Float32Array,
    uniform: Float64Array,
    allowed: Uint32Array | null,
    seen: Int32Array,
    seenOffsets: Int32Array,
    top: number,
    tokens: Int32Array,
    logprobs: Float32Array,
    entropies: Float32Array,
    topIds: Int32Array,
    topLogprobs: Float32Array,
  ): number;
  sample_rows(
    logits: Float32Array,
    rows: number,
    vocab: number,
    temperature: Float32Array,
    topK: Int32Array,
    topP: Float32Array,
    minP: Float32Array,
    penalty: Float32Array,
    uniform: Float64Array,
    allowed: Uint32Array | null,
    seen: Int32Array,
    seenOffsets: Int32Array,
    top: number,
    tokens: Int32Array,
    logprobs: Float32Array,
    entropies: Float32Array,
    topIds: Int32Array,
    topLogprobs: Float32Array,
  ): number;
}
