import { type GpuTensorData, WebGPUBackend } from "#tfjs-webgpu";
import type { DataType, TensorInfo } from "#tfjs";
import { tf } from "../tfjs.js";
import { checkDevice } from "./device.js";
import { type Dispatch, Programs } from "./programs.js";

type DataId = TensorInfo["dataId"];

/** Free memory that is kept in any case, in bytes. */
const SPARE = 1 << 28;

/** Reads after which memory that nothing took is freed: two to four steps of training. */
const IDLE_READS = 4;

/** Dispatches after which they are submitted, so that the GPU works while the next ones are recorded. */
const BATCH = 128;

type Values = Float32Array | Int32Array | Uint8Array;

/** What is read in one go, unless a single tensor is larger. */
const STAGING = 1 << 12;

/** A part of a larger buffer that a tensor has as its memory (src/tensor/gpu/slab.ts). */
interface Share {
  readonly buffer: GPUBuffer;
  readonly offset: number;
  readonly size: number;
  release(): void;
}

/**
 * tfjs's WebGPU backend with fused kernels of our own (src/tensor/gpu/kernels), and with three changes.
 * Everything between two reads is a few submits; memory of a tensor that is gone is used again at once, as work is
 * done in order; and a tensor may be a share of a larger buffer.
 */
export class GpuBackend extends WebGPUBackend {
  readonly programs: Programs;
  /** Submits, and bytes brought back from the GPU, so far. */
  submits = 0;
  bytesRead = 0;
  readonly #shares = new WeakMap<GpuTensorData, Share>();
  /** How many reads there had been when each buffer was last taken. */
  readonly #taken = new WeakMap<GPUBuffer, number>();
  #reads = 0;
  #submitted = 0;

  constructor(device: GPUDevice, info?: GPUAdapterInfo) {
    super(device, info);
    this.programs = new Programs(device);
    const manager = this.bufferManager;
    const acquire = manager.acquireBuffer.bind(manager);
    manager.acquireBuffer = (...args) => {
      const buffer = acquire(...args);
      this.#taken.set(buffer, this.#reads);
      return buffer;
    };
    this.#reuseAtOnce();
    // tfjs submits nothing by itself.
    tf.env().set("WEBGPU_DEFERRED_SUBMIT_BATCH_SIZE", 1 << 30);
  }

  /** tfjs's dispatches and ours. */
  get dispatches(): number {
    return this.programs.dispatches + this.#theirs + this.dispatchCountInPass;
  }
  #theirs = 0;

  override submitQueue(): void {
    this.endComputePassEncoder();
    this.programs.flush();
    this.#theirs += this.dispatchCountInPass;
    this.submits++;
    super.submitQueue();
    this.#submitted = this.dispatches;
    this.#reuseAtOnce();
    this.#trim();
  }

  override tensorToBinding(tensor: TensorInfo): GPUBufferBinding {
    const share = this.#share(tensor.dataId);
    if (!share) return super.tensorToBinding(tensor);
    const { buffer, offset, size } = share;
    return { buffer, offset, size };
  }

  override releaseResource(id: DataId): void {
    const share = this.#share(id);
    if (!share) return super.releaseResource(id);
    const data = this.tensorMap.get(id);
    this.#shares.delete(data);
    data.resource = null;
    share.release();
  }

  override async read(id: DataId): Promise<Values> {
    const data = this.tensorMap.get(id);
    if (data.values != null) return data.values;
    if (data.dtype === "complex64") return super.read(id) as Promise<Values>;
    const share = this.#share(id);
    const buffer = share?.buffer ?? data.resource;
    if (!buffer) throw new Error("Cannot read a tensor: it must have a value, got none");
    const bytes = await this.#bring(buffer, share?.offset ?? 0, share?.size ?? buffer.size);
    const values = data.dtype === "float32" ? new Float32Array(bytes) : new Int32Array(bytes);
    data.values = data.dtype === "bool" ? Uint8Array.from(values) : values;
    return data.values;
  }

  /** Brings bytes to main memory. What is asked for in one turn is one submit. */
  async #bring(buffer: GPUBuffer, offset: number, size: number): Promise<ArrayBuffer> {
    this.bytesRead += size;
    let batch = this.#reading;
    if (!batch || batch.used + size > STAGING) // a larger one has staging of its own
    {
      const usage = GPUBufferUsage.COPY_DST | GPUBufferUsage.MAP_READ;
      const capacity = Math.max(STAGING, Math.ceil(size / 8) * 8);
      const staging = this.bufferManager.acquireBuffer(capacity, usage);
      const made = { staging, used: 0, mapped: Promise.resolve(), readers: 0 };
      made.mapped = (async () => {
        await Promise.resolve();
        if (this.#reading === made) this.#reading = undefined;
        this.#reads++;
        if (this.commandEncoder) this.submitQueue();
        await staging.mapAsync(GPUMapMode.READ, 0, made.used);
        checkDevice(this.device);
      })();
      this.#reading = batch = made;
    }
    const at = batch.used;
    batch.used += Math.ceil(size / 8) * 8; // where a mapped range may begin
    batch.readers++;
    this.copy(buffer, offset, batch.staging, at, size);
    await batch.mapped;
    const bytes = batch.staging.getMappedRange(at, size).slice(0);
    if (--batch.readers === 0) {
      batch.staging.unmap();
      this.bufferManager.releaseBuffer(batch.staging);
    }
    return bytes;
  }
  #reading:
    { staging: GPUBuffer; used: number; mapped: Promise<void>; readers: number } | undefined;

  /** Where a tensor's values are, brought to the GPU where they are not there yet. */
  at(info: TensorInfo): GPUBufferBinding {
    this.uploadToGPU(info.dataId);
    return this.tensorToBinding(info);
  }

  /** A result to be filled. */
  output(shape: number[], dtype: DataType = "float32"): TensorInfo {
    const info = this.makeTensorInfo(shape, dtype);
    if (tf.util.sizeFromShape(shape) > 0) this.uploadToGPU(info.dataId);
    else this.tensorMap.get(info.dataId).values = new Float32Array(0);
    return info;
  }

  /** Memory for what a kernel needs on the way; `release` gives it back, at once. */
  scratch(floats: number): GPUBufferBinding & { release(): void } {
    const usage = GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_SRC | GPUBufferUsage.COPY_DST;
    const buffer = this.bufferManager.acquireBuffer(4 * floats, usage);
    return { buffer, release: () => this.bufferManager.releaseBuffer(buffer) };
  }

  run(dispatch: Dispatch): void {
    this.programs.record(this.#pass(), dispatch);
    if (this.dispatches - this.#submitted >= BATCH) this.submitQueue();
  }

  /** Copies bytes on the GPU, in order with the dispatches. */
  copy(from: GPUBuffer, at: number, to: GPUBuffer, toAt: number, bytes: number): void {
    this.#between().copyBufferToBuffer(from, at, to, toAt, bytes);
  }

  clear({ buffer, offset, size }: GPUBufferBinding): void {
    this.#between().clearBuffer(buffer, offset, size);
  }

  /** From here on a tensor's memory is a share of a larger buffer, which has its values already. */
  adopt(info: TensorInfo, share: Share): void {
    this.releaseResource(info.dataId);
    const data = this.tensorMap.get(info.dataId);
    data.resource = share.buffer;
    data.values = null;
    this.#shares.set(data, share);
  }

  /** The share that a tensor has of a larger buffer. */
  shareOf(info: TensorInfo): Share | undefined {
    return this.#share(info.dataId);
  }

  /** Forgets what was read of a tensor before it was changed in place. */
  changed(info: TensorInfo): void {
    this.tensorMap.get(info.dataId).values = null;
  }

  override dispose(): void {
    this.programs.dispose();
    super.dispose();
  }

  #share(id: DataId): Share | undefined {
    const data = this.tensorMap.has(id) ? this.tensorMap.get(id) : undefined;
    return data && this.#shares.get(data);
  }

  #pass(): GPUComputePassEncoder {
    this.ensureCommandEncoderReady();
    this.computePassEncoder ??= this.commandEncoder!.beginComputePass();
    return this.computePassEncoder;
  }

  /** The encoder outside of a pass, for copies. */
  #between(): GPUCommandEncoder {
    this.ensureCommandEncoderReady();
    this.endComputePassEncoder();
    return this.commandEncoder!;
  }

  /** tfjs keeps free memory for good, by its size: rows of ever other lengths would fill the card. */
  #trim(): void {
    const manager = this.bufferManager;
    if (manager.numBytesAllocated - manager.numBytesUsed <= SPARE) return;
    const idle = (buffer: GPUBuffer) => this.#reads - this.#taken.get(buffer)! > IDLE_READS;
    for (const buffers of manager.freeBuffers.values()) {
      for (const buffer of buffers.filter(idle)) {
        buffers.splice(buffers.indexOf(buffer), 1);
        manager.numBytesAllocated -= buffer.size;
        manager.numFreeBuffers--;
        buffer.destroy();
      }
    }
  }

  /** tfjs keeps memory until a submit; work is done in order, so it need not. */
  #reuseAtOnce(): void {
    this.commandQueueOwnedIds = { add: () => undefined, has: () => false };
  }
}
