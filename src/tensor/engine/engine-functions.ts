// Made by tools/native/engine-types.mjs from the headers that native/src/exports.h includes.

/** Float32 storage that the engine owns: a typed array, or a place in wasm memory. */
export type Floats = Float32Array | { readonly pointer: number; readonly length: number };

/** A 32-bit integer, or a truth value as one. */
type Int = number | boolean;

/** The compiled engine's functions; null stands for an array that is left out. */
export interface EngineFunctions {
  /** How many threads share the work. It changes no result. */
  threads(): number;
  set_threads(count: Int): void;
  /** Whether large matrix products from now on round their factors to bfloat16 (bf16_gemm.h). */
  round_products(on: Int): void;
  /**
   * C (m x n) = alpha A B (+ C if accumulate); a and b may be read transposed; `batch` products, the
   * ..._batch strides say how far apart (0 repeats the same matrix).
   */
  matmul(
    a: Floats,
    aStride: Int,
    aTransposed: Int,
    aBatch: Int,
    b: Floats,
    bStride: Int,
    bTransposed: Int,
    bBatch: Int,
    c: Floats,
    cStride: Int,
    cBatch: Int,
    batch: Int,
    m: Int,
    n: Int,
    k: Int,
    alpha: number,
    accumulate: Int,
  ): void;
  /** out = a (operation) b: 0 add, 1 subtract, 2 multiply, 3 divide. A step of 0 repeats one number. */
  binary(
    operation: Int,
    a: Floats,
    aStep: Int,
    b: Floats,
    bStep: Int,
    out: Floats,
    count: Int,
  ): void;
  /** Rows plus a bias, in place; and its gradient, the sum of each column. */
  add_bias(rows: Floats, bias: Floats, count: Int, width: Int): void;
  column_sum(rows: Floats, sums: Floats, count: Int, width: Int): void;
  /** y = x * inverse * weight, where inverse = 1 / sqrt(mean(x^2) + epsilon), one per row. */
  rms_norm(
    x: Floats,
    weight: Floats,
    y: Floats,
    inverse: Floats,
    rows: Int,
    width: Int,
    epsilon: number,
  ): void;
  rms_norm_grad(
    dy: Floats,
    x: Floats,
    weight: Floats,
    inverse: Floats,
    dx: Floats,
    dweight: Floats,
    rows: Int,
    width: Int,
  ): void;
  /** Rotary positions over [batch, time, heads, width]; y may be x; `inverse` turns back. */
  rope(
    x: Floats,
    y: Floats,
    cos: Floats,
    sin: Floats,
    batch: Int,
    time: Int,
    heads: Int,
    width: Int,
    inverse: Int,
  ): void;
  /**
   * Causal attention over [batch, time, heads, width]; lengths may be null. A position sees `window` positions,
   * its own included; 0: all before it. `normaliser` [batch, heads, time] is the log of each softmax's denominator.
   * unfold [batch, time] may be null. With it, q, k, v and out are of tokens [tokens, heads, width] that rows share, and
   * it says which stands where: they are numbered in the order of rows and places. dk and dv are by places all the same.
   */
  attention(
    q: Floats,
    k: Floats,
    v: Floats,
    lengths: Int32Array | null,
    unfold: Int32Array | null,
    out: Floats,
    normaliser: Floats,
    batch: Int,
    time: Int,
    heads: Int,
    kvHeads: Int,
    width: Int,
    window: Int,
  ): void;
  attention_grad(
    dout: Floats,
    q: Floats,
    k: Floats,
    v: Floats,
    lengths: Int32Array | null,
    unfold: Int32Array | null,
    out: Floats,
    normaliser: Floats,
    dq: Floats,
    dk: Floats,
    dv: Floats,
    batch: Int,
    time: Int,
    heads: Int,
    kvHeads: Int,
    width: Int,
    window: Int,
  ): void;
  /** silu(gate) * up */
  swiglu(gate: Floats, up: Floats, out: Floats, count: Int): void;
  swiglu_grad(dout: Floats, gate: Floats, up: Floats, dgate: Floats, dup: Floats, count: Int): void;
  /** gelu(gate) * up, GELU in its tanh form */
  geglu(gate: Floats, up: Floats, out: Floats, count: Int): void;
  geglu_grad(dout: Floats, gate: Floats, up: Floats, dgate: Floats, dup: Floats, count: Int): void;
  /** Rows of a table; the gradient adds up the rows of each id in order. */
  embed(table: Floats, ids: Int32Array, out: Floats, rows: Int, width: Int): void;
  embed_grad(
    dout: Floats,
    ids: Int32Array,
    dtable: Floats,
    rows: Int,
    width: Int,
    vocabulary: Int,
  ): void;
  /** ln p(label) and entropy of softmax(hidden head^T / temperature); `normaliser` is logsumexp. */
  log_prob_entropy(
    hidden: Floats,
    head: Floats,
    labels: Int32Array,
    logprobs: Floats,
    entropies: Floats,
    normaliser: Floats,
    rows: Int,
    width: Int,
    vocabulary: Int,
    temperature: number,
  ): void;
  log_prob_entropy_grad(
    dlogprobs: Floats,
    dentropies: Floats,
    hidden: Floats,
    head: Floats,
    labels: Int32Array,
    entropies: Floats,
    normaliser: Floats,
    dhidden: Floats,
    dhead: Floats | null,
    rows: Int,
    width: Int,
    vocabulary: Int,
    temperature: number,
  ): void;
  /** The k largest log-probabilities of each row and their ids, in falling order. */
  top_k(
    hidden: Floats,
    head: Floats,
    logprobs: Floats,
    ids: Int32Array,
    rows: Int,
    width: Int,
    vocabulary: Int,
    k: Int,
    temperature: number,
  ): void;
  /** Over all arrays at once; an array is its address, carried as a double. */
  square_sum(arrays: Float64Array, counts: Int32Array, count: Int): number;
  adamw(
    parameters: Float64Array,
    gradients: Float64Array,
    m: Float64Array,
    v: Float64Array,
    counts: Int32Array,
    count: Int,
    learningRate: number,
    beta1: number,
    beta2: number,
    epsilon: number,
    weightDecay: number,
    scale: number,
    correction1: number,
    correction2: number,
  ): void;
  /**
   * Products of numbers that are at hand, on every thread, `rounds` times a fixed number. kind: 0 float32 in
   * registers, 1 bytes in blocks as dots.h multiplies them, 2 float32's digits on matrix tiles, 3 pairs of
   * bfloat16 as w16a16.h multiplies them. Gives how many operations that was, a product and its sum counting as two;
   * 0 where this machine has no such products.
   */
  peak_products(kind: Int, rounds: Int): number;
  /** Reads numbers on every thread. Gives their sum, so that nothing can be left out. */
  peak_read(numbers: Floats, count: Int): number;
  /**
   * shape: vocab, hidden, layers, heads, kv heads, head size, feed-forward size, and how weights are
   * kept: 0 exactly, 1 as bfloat16, 2 as 8-bit integers, 3 as blocks (narrow.h), 4 and 5 as blocks of 8 and 4
   * bits for products of integers (dots.h); how keys and values are: 0 exactly, 1 as float16; and the activation:
   * 0 SiLU, 1 GELU in its tanh form.
   */
  decoder_create(shape: Int32Array, eps: number): number;
  decoder_destroy(decoder: number): void;
  /**
   * Weights in Hugging Face layout ([out, in]), copied and packed; biases and head norms may be null.
   * Matrices are null where they are kept in fewer bits: they come by rows.
   */
  decoder_load_layer(
    decoder: number,
    layer: Int,
    inputNorm: Floats,
    query: Floats | null,
    key: Floats | null,
    value: Floats | null,
    queryBias: Floats | null,
    keyBias: Floats | null,
    valueBias: Floats | null,
    queryNorm: Floats | null,
    keyNorm: Floats | null,
    output: Floats | null,
    postNorm: Floats,
    gate: Floats | null,
    up: Floats | null,
    down: Floats | null,
  ): void;
  /**
   * What a layer does otherwise than most: biases of the other matrices, norms of what attention and the
   * feed-forward block found (null: none), how many positions it sees (0: all) and which rotary table it has.
   */
  decoder_load_kind(
    decoder: number,
    layer: Int,
    outputBias: Floats | null,
    gateBias: Floats | null,
    upBias: Floats | null,
    downBias: Floats | null,
    attendedNorm: Floats | null,
    foundNorm: Floats | null,
    window: Int,
    table: Int,
  ): void;
  decoder_load_ends(decoder: number, finalNorm: Floats, head: Floats | null): void;
  /**
   * Rows [first, first + rows) of a matrix kept in fewer bits, as float32 or bfloat16 (the other is
   * null). matrix: 0 queries, keys and values, 1 output, 2 gate, 3 up, 4 down, 5 the head (of any layer).
   * Gives the first row that is not finite, or -1.
   */
  decoder_load_rows(
    decoder: number,
    layer: Int,
    matrix: Int,
    first: Int,
    rows: Int,
    whole: Floats | null,
    half: Uint16Array | null,
  ): number;
  /** The same of a matrix in blocks of 18 (Q4_0), 20 (Q4_1) or 34 bytes (Q8_0), which one matrix has all alike. */
  decoder_load_blocks(
    decoder: number,
    layer: Int,
    matrix: Int,
    first: Int,
    rows: Int,
    blocks: Uint8Array,
    blockBytes: Int,
  ): number;
  /** Cosines and sines of a table (0 to 3) for the first `positions` positions, head size / 2 of each per position. */
  decoder_load_rope(decoder: number, table: Int, cos: Floats, sin: Floats, positions: Int): void;
  /** Bytes one page takes. */
  decoder_page_bytes(decoder: number): number;
  /** Gives back the memory of pages numbered `pages` and above, as far as it can. */
  decoder_trim(decoder: number, pages: Int): void;
  /**
   * Feeds `feeds` rows: row i gets tokens offsets[i] to offsets[i + 1] (as embeddings) at positions
   * from[i] onwards, with its pages in pages[page_offsets[i]] onwards; first copies pages pairwise.
   * Then samples (sampler.h). Gives the first feed whose logits are not finite, or -1.
   */
  decoder_step(
    decoder: number,
    embedded: Floats,
    offsets: Int32Array,
    from: Int32Array,
    feeds: Int,
    pages: Int32Array,
    pageOffsets: Int32Array,
    copies: Int32Array,
    copyCount: Int,
    temperature: Floats,
    topK: Int32Array,
    topP: Floats,
    minP: Floats,
    penalty: Floats,
    uniform: Float64Array,
    allowed: Uint32Array | null,
    allowedAt: Int32Array | null,
    constrained: Int32Array | null,
    seen: Int32Array,
    seenOffsets: Int32Array,
    top: Int,
    tokens: Int32Array,
    logprobs: Floats,
    entropies: Floats,
    topIds: Int32Array,
    topLogprobs: Floats,
    kept: Uint32Array | null,
    keptLogprobs: Floats | null,
  ): number;
  /**
   * For JavaScript: all rows of `logits`, which are overwritten. Gives the first row whose logits are
   * not finite, or -1.
   */
  sample_rows(
    logits: Floats,
    rows: Int,
    vocab: Int,
    temperature: Floats,
    topK: Int32Array,
    topP: Floats,
    minP: Floats,
    penalty: Floats,
    uniform: Float64Array,
    allowed: Uint32Array | null,
    allowedAt: Int32Array | null,
    constrained: Int32Array | null,
    seen: Int32Array,
    seenOffsets: Int32Array,
    top: Int,
    tokens: Int32Array,
    logprobs: Floats,
    entropies: Floats,
    topIds: Int32Array,
    topLogprobs: Floats,
    kept: Uint32Array | null,
    keptLogprobs: Floats | null,
  ): number;
}

/** How each function's result and arguments are passed, as native/src/signature.h spells it. */
export const engineSignatures: Readonly<Record<keyof EngineFunctions, string>> = {
  threads: "i",
  set_threads: "vi",
  round_products: "vi",
  matmul: "vsiiisiiiSiiiiiifi",
  binary: "visisiSi",
  add_bias: "vSsii",
  column_sum: "vsSii",
  rms_norm: "vssSSiif",
  rms_norm_grad: "vssssSSii",
  rope: "vsSssiiiii",
  attention: "vsssnnSSiiiiii",
  attention_grad: "vssssnnssSSSiiiiii",
  swiglu: "vssSi",
  swiglu_grad: "vsssSSi",
  geglu: "vssSi",
  geglu_grad: "vsssSSi",
  embed: "vsnSii",
  embed_grad: "vsnSiii",
  log_prob_entropy: "vssnSSSiiif",
  log_prob_entropy_grad: "vssssnssSSiiif",
  top_k: "vssSNiiiif",
  square_sum: "dlni",
  adamw: "vllllniffffffff",
  peak_products: "dii",
  peak_read: "dsi",
  decoder_create: "dnf",
  decoder_destroy: "vd",
  decoder_load_layer: "vdissssssssssssss",
  decoder_load_kind: "vdissssssii",
  decoder_load_ends: "vdss",
  decoder_load_rows: "idiiiish",
  decoder_load_blocks: "idiiiibi",
  decoder_load_rope: "vdissi",
  decoder_page_bytes: "dd",
  decoder_trim: "vdi",
  decoder_step: "idsnninnnisnssslunnnniNSSNSUS",
  sample_rows: "iSiisnssslunnnniNSSNSUS",
};

/** Throws unless an engine's functions are the ones that are called here, argument for argument. */
export function checkSignatures(engine: string, found: Readonly<Record<string, string>>): void {
  for (const [name, signature] of Object.entries(engineSignatures)) {
    if (found[name] === signature) continue;
    throw new Error(
      `Cannot load the ${engine} engine: it must be built from these sources; its ${name} must have the signature ${signature}, got ${found[name]}`,
    );
  }
}
