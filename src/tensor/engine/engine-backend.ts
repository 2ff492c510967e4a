import { MathBackendCPU } from "#tfjs";
import type { backend_util, DataType, TensorInfo } from "#tfjs";
import { tf } from "../tfjs.js";
import type { Engine } from "./engine.js";
import type { Floats } from "./floats.js";
import { TensorData } from "./tensor-data.js";

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

  override write(values: backend_util.BackendValues, shape: number[], dtype: DataType): DataId {
    const id = super.write(values, shape, dtype);
    this.data.set(id, new TensorData(this.engine, dtype, values));
    return id;
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
    const dataId = super.write(undefined as never, shape, "float32");
    this.data.set(dataId, new TensorData(this.engine, "float32", undefined, 1, floats));
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
