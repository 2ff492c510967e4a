import type { backend_util, DataType, TensorInfo } from "#tfjs";
import type { Engine } from "./engine.js";
import type { Floats } from "./floats.js";

/**
 * The values behind a tensor of an engine backend. Float32 results of engine kernels live in storage
 * that is used again once the tensor is gone. The kernels inherited from tfjs read and share plain
 * arrays (`values`); what one of them has looked at is moved out of that storage for good, since
 * nobody knows who still holds it.
 */
export class TensorData<D extends DataType = DataType> {
  refCount: number;
  readonly dtype: D;
  complexTensorInfos?: { real: TensorInfo; imag: TensorInfo };
  readonly #engine: Engine;
  #array: backend_util.BackendValues | undefined;
  #floats: Floats | undefined;

  constructor(
    engine: Engine,
    dtype: D,
    values: backend_util.BackendValues | undefined,
    refCount = 1,
    floats?: Floats,
  ) {
    this.#engine = engine;
    this.dtype = dtype;
    this.#array = values;
    this.#floats = floats;
    this.refCount = refCount;
  }

  /** Whether the engine's storage holds it, so that it can be changed in place. */
  get owned(): boolean {
    return this.#floats !== undefined;
  }

  /** What inherited kernels see. */
  get values(): backend_util.BackendValues | undefined {
    if (this.#floats !== undefined) {
      this.#array = this.#engine.read(this.#floats);
      this.release();
    }
    return this.#array;
  }
  set values(values: backend_util.BackendValues | undefined) {
    this.release();
    this.#array = values;
  }

  /** A copy, leaving the storage where it is. */
  read(): backend_util.BackendValues | undefined {
    return this.#floats !== undefined ? this.#engine.read(this.#floats) : this.#array;
  }

  /** What engine functions take. */
  get floats(): Floats {
    if (this.#floats !== undefined) return this.#floats;
    const array = this.#array;
    if (!(array instanceof Float32Array)) {
      throw new TypeError(`Cannot compute: the tensor must be float32, got ${this.dtype}`);
    }
    // The addon reads a JavaScript array where it is; wasm needs it in its own memory.
    if (this.#engine.kind === "native") return array;
    this.#floats = this.#engine.upload(array);
    this.#array = undefined;
    return this.#floats;
  }

  /** Moves the values into storage of their own. */
  own(): void {
    if (this.#floats !== undefined) return;
    this.#floats = this.#engine.upload(this.#array as Float32Array);
    this.#array = undefined;
  }

  release(): void {
    if (this.#floats !== undefined) this.#engine.release(this.#floats);
    this.#floats = undefined;
  }
}
