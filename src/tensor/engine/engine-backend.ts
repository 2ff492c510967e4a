import { type backend_util, type DataType, MathBackendCPU, type TensorInfo } from "#tfjs";
import { tf } from "../tfjs.js";
import type { Engine } from "./engine.js";
import type { Floats } from "./engine-functions.js";

/**
 * The values behind a tensor of an engine backend. Float32 results of engine kernels live in storage
 * that is used again once the tensor is gone. The kernels inherited from tfjs read and share plain
 * arrays (`values`); what one of them has looked at is moved out of that storage for good, since
 * nobody knows who still holds it.
 */
class TensorData<D extends DataType = DataType> {
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

type DataId = TensorInfo["dataId"];

/**
 * A tfjs backend over the compiled engine. It is tfjs's own cpu backend, every kernel of it, with the
 * hot kernels replaced and the fused ones added (src/tensor/kernels).
 */
export class EngineBackend extends MathBackendCPU {
  readonly engine: Engine;

  constructor(engine: Engine) {
    super();
    this.engine = engine;
    // Keeps tfjs from advertising its other backends.
    (this as unknown as { firstUse: boolean }).firstUse = false;
  }

  override write(values: backend_util.BackendValues, _shape: number[], dtype: DataType): DataId {
    return this.#store(new TensorData(this.engine, dtype, values));
  }

  /** Once for each tensor: tfjs counts what is set, and looks for leaks by that count. */
  #store(data: TensorData): DataId {
    const dataId = {};
    this.data.set(dataId, data);
    return dataId;
  }

  override move(
    dataId: DataId,
    values: backend_util.BackendValues,
    _shape: number[],
    dtype: DataType,
    refCount: number,
  ): void {
    this.data.set(dataId, new TensorData(this.engine, dtype, values, refCount));
  }

  override readSync(dataId: DataId): backend_util.BackendValues {
    const data = this.#data(dataId);
    return data.owned ? data.read()! : super.readSync(dataId);
  }

  override disposeData(dataId: DataId, force = false): boolean {
    const data = this.data.has(dataId) ? this.#data(dataId) : undefined;
    const gone = super.disposeData(dataId, force);
    if (gone) data?.release();
    return gone;
  }

  #data(dataId: DataId): TensorData {
    return this.data.get(dataId) as TensorData;
  }

  /** A tensor's float32 values, for an engine function. */
  floats(info: TensorInfo): Floats {
    return this.#data(info.dataId).floats;
  }

  /** A tensor's int32 values. */
  ints(info: TensorInfo): Int32Array {
    const values = this.#data(info.dataId).values;
    return values instanceof Int32Array ? values : Int32Array.from(values as Uint8Array);
  }

  /** A float32 result for an engine function to fill. */
  output(shape: number[]): { info: TensorInfo; floats: Floats } {
    const floats = this.engine.allocate(tf.util.sizeFromShape(shape));
    const dataId = this.#store(new TensorData(this.engine, "float32", undefined, 1, floats));
    return { info: { dataId, shape, dtype: "float32" }, floats };
  }

  /** Whether changing this tensor in place would be seen by nobody else. */
  exclusive(dataId: DataId): boolean {
    const data = this.#data(dataId);
    return data.owned && data.refCount === 1;
  }

  /** Makes a tensor that nobody shares changeable in place. */
  own(dataId: DataId): void {
    this.#data(dataId).own();
  }
}
