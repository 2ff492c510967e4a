import type { Programs } from "../../../tensor/gpu/programs.js";
import { perWord, type StoredType, storedStride } from "../../../tensor/gpu/wgsl/stored.js";
import type { DecoderShape } from "../weights.js";
import { type GpuMatrix, packRows } from "./gpu-buffers.js";
import type { GpuWeightSource, WeightPart } from "./weight-source.js";

/** One layer on the card: what is used together lies together. */
interface GpuLayer {
  inputNorm: GPUBuffer;
  qkv: GpuMatrix;
  qkvBias?: GPUBuffer;
  queryNorm?: GPUBuffer;
  keyNorm?: GPUBuffer;
  output: GpuMatrix;
  postNorm: GPUBuffer;
  gateUp: GpuMatrix;
  down: GpuMatrix;
}

/** A model's weights on the card. */
export class GpuWeights {
  readonly layers: GpuLayer[];
  readonly embedding: GpuMatrix;
  readonly finalNorm: GPUBuffer;
  readonly head: GpuMatrix;
  readonly #device: GPUDevice;
  readonly #programs: Programs;
  readonly #shape: DecoderShape;
  readonly #all: GPUBuffer[] = [];
  #scratch: GPUBuffer | undefined;

  /** Matrices are kept as `type` says; embeddings are looked up as they are. */
  constructor(
    device: GPUDevice,
    programs: Programs,
    shape: DecoderShape,
    source: GpuWeightSource,
    type: StoredType,
  ) {
    this.#device = device;
    this.#programs = programs;
    this.#shape = shape;
    const { vocabSize, hidden, heads, kvHeads, headDim, feedForward } = shape;
    const wide = (heads + 2 * kvHeads) * headDim;
    const make = (floats: number, name: string) => this.#make(4 * floats, name);
    const matrix = (out: number, into: number, name: string, as = type) =>
      this.#matrix(out, into, name, as);
    const halved = hidden % 2 === 0 && source.halves?.("embedding", 0) !== undefined;
    const kept = halved && type !== "float32" ? "bfloat16" : "float32";
    this.embedding = matrix(vocabSize, hidden, "embedding", kept);
    this.finalNorm = make(hidden, "finalNorm");
    this.layers = Array.from({ length: shape.layers }, () => ({
      inputNorm: make(hidden, "inputNorm"),
      qkv: matrix(wide, hidden, "qkv"),
      qkvBias: make(wide, "qkvBias"),
      queryNorm: make(headDim, "queryNorm"),
      keyNorm: make(headDim, "keyNorm"),
      output: matrix(hidden, heads * headDim, "output"),
      postNorm: make(hidden, "postNorm"),
      gateUp: matrix(2 * feedForward, hidden, "gateUp"),
      down: matrix(hidden, feedForward, "down"),
    }));
    const shared = type === kept && source.tied;
    this.head = shared ? this.embedding : matrix(vocabSize, hidden, "head");
    try {
      this.load(source);
    } catch (error) {
      this.dispose();
      throw error;
    }
  }

  /** Takes the weights as they are now; what the model did not have before it must not have now. */
  load(source: GpuWeightSource): void {
    const { vocabSize, hidden, heads, kvHeads, headDim, feedForward } = this.#shape;
    const [q, k] = [heads * headDim, kvHeads * headDim];
    for (const [i, layer] of this.layers.entries()) {
      const vector = (part: WeightPart, to: GPUBuffer, floats: number, at = 0) =>
        source.put(part, i, to, 4 * at, floats);
      const rows = (part: WeightPart, to: GpuMatrix, count: number, width: number, first = 0) =>
        this.#rows(source, part, i, to, [first, count, width]);
      vector("inputNorm", layer.inputNorm, hidden);
      rows("query", layer.qkv, q, hidden);
      rows("key", layer.qkv, k, hidden, q);
      rows("value", layer.qkv, k, hidden, q + k);
      rows("output", layer.output, hidden, q);
      vector("postNorm", layer.postNorm, hidden);
      rows("gate", layer.gateUp, feedForward, hidden);
      rows("up", layer.gateUp, feedForward, hidden, feedForward);
      rows("down", layer.down, hidden, feedForward);
      const biases = [
        layer.qkvBias && vector("queryBias", layer.qkvBias, q),
        layer.qkvBias && vector("keyBias", layer.qkvBias, k, q),
        layer.qkvBias && vector("valueBias", layer.qkvBias, k, q + k),
      ];
      // A bias that is left out is one of zeros, as buffers begin.
      if (!biases.includes(true)) delete layer.qkvBias;
      if (layer.queryNorm && !vector("queryNorm", layer.queryNorm, headDim)) delete layer.queryNorm;
      if (layer.keyNorm && !vector("keyNorm", layer.keyNorm, headDim)) delete layer.keyNorm;
    }
    const all = [0, vocabSize, hidden] as const;
    this.#rows(source, "embedding", 0, this.embedding, all);
    source.put("finalNorm", 0, this.finalNorm, 0, hidden);
    if (this.head !== this.embedding) {
      this.#rows(source, source.tied ? "embedding" : "head", 0, this.head, all);
    }
    source.done();
    this.#scratch?.destroy();
    this.#scratch = undefined;
  }

  dispose(): void {
    for (const buffer of this.#all) buffer.destroy();
  }

  /** Brings some rows of a matrix to their place, rounded where they are kept so. */
  #rows(
    source: GpuWeightSource,
    part: WeightPart,
    layer: number,
    to: GpuMatrix,
    [first, rows, width]: readonly [first: number, rows: number, width: number],
  ): void {
    if (to.type === "float32") {
      source.put(part, layer, to.buffer, 4 * first * width, rows * width);
      return;
    }
    const bits = to.type === "bfloat16" ? source.halves?.(part, layer) : undefined;
    if (bits && to.stride === width) {
      this.#device.queue.writeBuffer(
        to.buffer,
        2 * first * width,
        bits as Uint16Array<ArrayBuffer>,
      );
      return;
    }
    const bytes = 4 * rows * width;
    if (!this.#scratch || this.#scratch.size < bytes) {
      source.done(); // what was recorded may still read the smaller one
      this.#scratch?.destroy();
      this.#scratch = this.#buffer(bytes, part);
    }
    source.put(part, layer, this.#scratch, 0, rows * width);
    source.run(packRows(this.#scratch, to, [first, rows, width]), this.#programs);
  }

  #matrix(out: number, into: number, name: string, type: StoredType): GpuMatrix {
    const stride = storedStride(type, into);
    const buffer = this.#make((4 * out * stride) / perWord[type], name);
    const scales = type === "int8" ? { scales: this.#make(4 * out, name) } : {};
    return { buffer, type, stride, ...scales };
  }

  #make(bytes: number, name: string): GPUBuffer {
    const buffer = this.#buffer(bytes, name);
    this.#all.push(buffer);
    return buffer;
  }

  #buffer(bytes: number, name: string): GPUBuffer {
    const { maxBufferSize, maxStorageBufferBindingSize } = this.#device.limits;
    const most = Math.min(maxBufferSize, maxStorageBufferBindingSize);
    if (bytes > most) {
      this.dispose();
      throw new RangeError(
        `Cannot make a decoder: ${name} must fit into ${most} bytes, which is what this GPU takes at once, got ${bytes}`,
      );
    }
    const usage = GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_DST | GPUBufferUsage.COPY_SRC;
    return this.#device.createBuffer({ size: bytes, usage });
  }
}
