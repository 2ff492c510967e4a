import { checkDevice } from "../../../tensor/gpu/device.js";
import type { Device } from "../../../tensor/gpu/handles.js";
import { Programs } from "../../../tensor/gpu/programs.js";
import { ANSWER, answerWords } from "../../../tensor/gpu/wgsl/sample.js";
import type { StoredType } from "../../../tensor/gpu/wgsl/stored.js";
import { allocateSamples, notFinite, supportWords } from "../check-step.js";
import type { Sampled, Step } from "../decoder.js";
import { PagedDecoder } from "../paged-decoder.js";
import { type Extension, PAGE_SIZE } from "../pages.js";
import type { DecoderShape } from "../weights.js";
import { GpuBuffers } from "./gpu-buffers.js";
import { recordStep } from "./gpu-layers.js";
import { packStep } from "./gpu-step.js";
import { GpuWeights } from "./gpu-weights.js";
import type { GpuWeightSource } from "./weight-source.js";

/**
 * The decoder on a GPU, in Node or a browser: one submit and one small read-back a step. Weights, cache and sampling
 * are on the card. A step is waited for, so sequences can be closed while it is under way: they are when it has ended.
 */
export class GpuDecoder extends PagedDecoder {
  readonly #device: GPUDevice;
  readonly #source: () => GpuWeightSource;
  readonly #programs: Programs;
  readonly #buffers: GpuBuffers;
  readonly #weights: GpuWeights;
  /** Sequences of the step under way, and those of them that are to be closed after it. */
  readonly #busy = new Set<number>();
  readonly #closing = new Set<number>();
  #before: Promise<unknown> = Promise.resolve();
  protected disposed = false;
  /** What steps took so far. */
  readonly cost = { dispatches: 0, submits: 0, bytesRead: 0 };

  /** Matrices are kept as `type` says; sums are of float32, and embeddings are looked up as they are. */
  constructor(
    device: Device,
    shape: DecoderShape,
    source: () => GpuWeightSource,
    type: StoredType = "float32",
  ) {
    super(shape);
    this.#device = device;
    this.#source = source;
    this.#programs = new Programs(device);
    this.#buffers = new GpuBuffers(device);
    if (type !== "float32") this.rounded = type;
    this.#weights = new GpuWeights(device, this.#programs, shape, source(), type);
    this.#loadTurns();
  }

  override fork(row: number): number {
    this.#idle(row, "fork");
    return super.fork(row);
  }

  override truncate(row: number, length: number): void {
    this.#idle(row, "truncate");
    super.truncate(row, length);
  }

  override close(row: number): void {
    if (this.#busy.has(row)) this.#closing.add(row);
    else super.close(row);
  }

  async step(...step: Step): Promise<Sampled> {
    const before = this.#before;
    const own = (async () => {
      await before.catch(() => undefined);
      return this.#step(step);
    })();
    this.#before = own;
    return own;
  }

  protected reload(): void {
    this.#weights.load(this.#source());
  }

  bytes(): number {
    const { layers, kvHeads, headDim } = this.shape;
    return this.pages.used * layers * 2 * PAGE_SIZE * kvHeads * headDim * 4;
  }

  dispose(): void {
    if (this.disposed) return;
    this.disposed = true;
    this.#weights.dispose();
    this.#buffers.dispose();
    this.#programs.dispose();
  }

  async #step(step: Step): Promise<Sampled> {
    const extensions = this.extend(...step);
    const [rows] = step;
    for (const row of rows) this.#busy.add(row);
    try {
      const answer = await this.#run(extensions, step);
      const bad = rows.findIndex((_, i) => answer.finite[i] === false);
      if (bad >= 0) throw notFinite(rows[bad]!);
      this.commit(extensions);
      return answer.sampled;
    } catch (error) {
      this.rollBack(extensions);
      throw error;
    } finally {
      this.#busy.clear();
      for (const row of this.#closing) super.close(row);
      this.#closing.clear();
    }
  }

  async #run(
    extensions: readonly Extension[],
    [, tokens, offsets, sampling]: Step,
  ): Promise<{ sampled: Sampled; finite: boolean[] }> {
    const seen = extensions.map((extension, i) => {
      this.pages.record(extension, tokens.subarray(offsets[i], offsets[i + 1]));
      return sampling.repetitionPenalty[i] === 1 ? undefined : this.#seen(extension);
    });
    const packed = packStep(extensions, tokens, offsets, sampling, PAGE_SIZE, seen);
    const encoder = this.#device.createCommandEncoder();
    const { top } = sampling;
    const rows = extensions.length;
    const support = supportWords(sampling, this.vocabSize);
    const before = this.#programs.dispatches;
    const answer = recordStep({
      encoder,
      device: this.#device,
      programs: this.#programs,
      buffers: this.#buffers,
      shape: this.shape,
      weights: this.#weights,
      packed,
      tokens: tokens.length,
      rows,
      top,
      support,
      pages: 1 + extensions.reduce((most, { pages }) => Math.max(most, ...pages), 0),
    });
    const bytes = 4 * rows * answerWords(top, support);
    const back = this.#buffers.take("answer read back", bytes, GPUBufferUsage.MAP_READ);
    encoder.copyBufferToBuffer(answer, 0, back, 0, bytes);
    this.#programs.flush();
    this.#device.queue.submit([encoder.finish()]);
    this.#buffers.sweep();
    this.cost.dispatches += this.#programs.dispatches - before;
    this.cost.submits++;
    this.cost.bytesRead += bytes;
    await back.mapAsync(GPUMapMode.READ, 0, bytes);
    checkDevice(this.#device);
    const words = new Uint32Array(back.getMappedRange(0, bytes).slice(0));
    back.unmap();
    return unpack(words, rows, top, support);
  }

  #idle(row: number, action: string): void {
    if (this.#busy.has(row)) {
      throw new Error(`Cannot ${action} sequence ${row}: it must not be fed at the same time`);
    }
  }

  /** A bit for each id that the sequence has. */
  #seen(extension: Extension): Uint32Array {
    const mask = new Uint32Array(Math.ceil(this.vocabSize / 32));
    for (const id of this.pages.recorded(extension)) mask[id >>> 5]! |= 1 << (id & 31);
    return mask;
  }

  #loadTurns(): void {
    const { headDim, inverseFrequencies, contextLength } = this.shape;
    const half = headDim / 2;
    const [cos, sin] = [0, 1].map(() => new Float32Array(contextLength * half)) as [
      Float32Array<ArrayBuffer>,
      Float32Array<ArrayBuffer>,
    ];
    for (let position = 0, i = 0; position < contextLength; position++) {
      for (let d = 0; d < half; d++, i++) {
        const angle = position * inverseFrequencies[d]!;
        cos[i] = Math.cos(angle);
        sin[i] = Math.sin(angle);
      }
    }
    for (const [name, values] of [
      ["cos", cos],
      ["sin", sin],
    ] as const) {
      this.#device.queue.writeBuffer(this.#buffers.take(name, values.byteLength), 0, values);
    }
  }
}

function unpack(words: Uint32Array, rows: number, top: number, support: number) {
  const floats = new Float32Array(words.buffer);
  const sampled = allocateSamples(rows, top, support);
  const finite: boolean[] = [];
  for (let row = 0; row < rows; row++) {
    const at = row * answerWords(top, support);
    sampled.tokens[row] = words[at]!;
    sampled.logprobs[row] = floats[at + 1]!;
    sampled.entropies[row] = floats[at + 2]!;
    finite.push(words[at + 3] === 0);
    const ids = at + ANSWER;
    sampled.topIds.set(new Int32Array(words.buffer, 4 * ids, top), row * top);
    sampled.topLogprobs.set(floats.subarray(ids + top, ids + 2 * top), row * top);
    const kept = ids + 2 * top;
    sampled.support.set(words.subarray(kept, kept + support), row * support);
    sampled.supportLogprobs[row] = floats[at + 4]!;
  }
  return { sampled, finite };
}
