import type { DecoderShape, DecoderWeights } from "../weights.js";

/** A weight by what a decoder calls it; those outside of the layers have no layer. */
export type WeightPart =
  | "inputNorm"
  | "query"
  | "key"
  | "value"
  | "queryBias"
  | "keyBias"
  | "valueBias"
  | "queryNorm"
  | "keyNorm"
  | "output"
  | "postNorm"
  | "gate"
  | "up"
  | "down"
  | "embedding"
  | "finalNorm"
  | "head";

/** Where a decoder's weights come from. */
export interface GpuWeightSource {
  /** Puts a weight's float32 values into a buffer; false where the model has no such weight. */
  put(part: WeightPart, layer: number, to: GPUBuffer, offset: number): boolean;
  /** Called when all have been put. */
  done(): void;
}

/**
 * Weights in main memory, uploaded.
 *
 * @example
 * ```ts
 * import { type DecoderWeights, uploaded } from "arpo-lab/model";
 *
 * const sourceOn = (device: GPUDevice, weights: DecoderWeights) => uploaded(device, weights);
 * ```
 */
export function uploaded(device: GPUDevice, weights: DecoderWeights): GpuWeightSource {
  return {
    put(part, layer, to, offset) {
      const ends = part === "embedding" || part === "finalNorm" || part === "head";
      const values = ends ? weights[part] : weights.layers[layer]![part];
      if (!values) return false;
      device.queue.writeBuffer(to, offset, values.buffer, values.byteOffset, values.byteLength);
      return true;
    },
    done: () => undefined,
  };
}

/** One layer on the card: what is used together lies together. */
export interface GpuLayer {
  inputNorm: GPUBuffer;
  qkv: GPUBuffer;
  qkvBias?: GPUBuffer;
  queryNorm?: GPUBuffer;
  keyNorm?: GPUBuffer;
  output: GPUBuffer;
  postNorm: GPUBuffer;
  gateUp: GPUBuffer;
  down: GPUBuffer;
}

/** A model's weights on the card. */
export class GpuWeights {
  readonly layers: GpuLayer[];
  readonly embedding: GPUBuffer;
  readonly finalNorm: GPUBuffer;
  readonly head: GPUBuffer;
  readonly #device: GPUDevice;
  readonly #shape: DecoderShape;
  readonly #all: GPUBuffer[] = [];

  constructor(device: GPUDevice, shape: DecoderShape, source: GpuWeightSource) {
    this.#device = device;
    this.#shape = shape;
    const { vocabSize, hidden, heads, kvHeads, headDim, feedForward } = shape;
    const wide = (heads + 2 * kvHeads) * headDim;
    const make = (floats: number) => this.#make(floats);
    this.embedding = make(vocabSize * hidden);
    this.finalNorm = make(hidden);
    this.layers = Array.from({ length: shape.layers }, () => ({
      inputNorm: make(hidden),
      qkv: make(wide * hidden),
      qkvBias: make(wide),
      queryNorm: make(headDim),
      keyNorm: make(headDim),
      output: make(hidden * heads * headDim),
      postNorm: make(hidden),
      gateUp: make(2 * feedForward * hidden),
      down: make(hidden * feedForward),
    }));
    const head = make(vocabSize * hidden);
    const untied = this.#load(source, head);
    this.head = untied ? head : this.embedding;
    if (!untied) head.destroy();
  }

  /** Takes the weights again; what the model did not have before it must not have now. */
  load(source: GpuWeightSource): void {
    this.#load(source, this.head);
  }

  dispose(): void {
    for (const buffer of this.#all) buffer.destroy();
  }

  #load(source: GpuWeightSource, head: GPUBuffer): boolean {
    const { hidden, heads, kvHeads, headDim, feedForward } = this.#shape;
    const [q, k] = [heads * headDim, kvHeads * headDim];
    for (const [i, layer] of this.layers.entries()) {
      const put = (part: WeightPart, to: GPUBuffer, floats = 0) =>
        source.put(part, i, to, 4 * floats);
      put("inputNorm", layer.inputNorm);
      put("query", layer.qkv);
      put("key", layer.qkv, q * hidden);
      put("value", layer.qkv, (q + k) * hidden);
      put("output", layer.output);
      put("postNorm", layer.postNorm);
      put("gate", layer.gateUp);
      put("up", layer.gateUp, feedForward * hidden);
      put("down", layer.down);
      const biases = [
        layer.qkvBias && put("queryBias", layer.qkvBias),
        layer.qkvBias && put("keyBias", layer.qkvBias, q),
        layer.qkvBias && put("valueBias", layer.qkvBias, q + k),
      ];
      // A bias that is left out is one of zeros, as buffers begin.
      if (!biases.includes(true)) delete layer.qkvBias;
      if (layer.queryNorm && !put("queryNorm", layer.queryNorm)) delete layer.queryNorm;
      if (layer.keyNorm && !put("keyNorm", layer.keyNorm)) delete layer.keyNorm;
    }
    source.put("embedding", 0, this.embedding, 0);
    source.put("finalNorm", 0, this.finalNorm, 0);
    const untied = head !== this.embedding && source.put("head", 0, head, 0);
    source.done();
    return untied;
  }

  #make(floats: number): GPUBuffer {
    const usage = GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_DST | GPUBufferUsage.COPY_SRC;
    const buffer = this.#device.createBuffer({ size: 4 * floats, usage });
    this.#all.push(buffer);
    return buffer;
  }
}
