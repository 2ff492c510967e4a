import type { TensorInfo } from "#tfjs";
import type { EngineBackend } from "../engine/engine-backend.js";
import { tf } from "../tfjs.js";
import type { EngineKernel } from "./kernel.js";

const size = (info: TensorInfo) => tf.util.sizeFromShape(info.shape);

/** Runs tfjs's own kernel of that name, for the cases the engine does not cover. */
function inherited(
  name: string,
  backend: EngineBackend,
  inputs: Record<string, TensorInfo>,
  attributes: Record<string, unknown> = {},
): TensorInfo {
  return tf.getKernel(name, "cpu").kernelFunc({
    inputs: inputs as never,
    backend,
    attrs: attributes as never,
  }) as TensorInfo;
}

/** Two float32 tensors of one shape, or one of them a single number; the rest is inherited. */
function binary(name: string, operation: number): EngineKernel {
  return (backend, inputs) => {
    const { a, b } = inputs as { a: TensorInfo; b: TensorInfo };
    const [sizeA, sizeB] = [size(a), size(b)];
    const same = `${a.shape}` === `${b.shape}`;
    const covered =
      a.dtype === "float32" &&
      b.dtype === "float32" &&
      Math.max(sizeA, sizeB) >= 256 &&
      (same ||
        (sizeA === 1 && a.shape.length <= b.shape.length) ||
        (sizeB === 1 && b.shape.length <= a.shape.length));
    if (!covered) return inherited(name, backend, inputs);
    const { info, floats } = backend.output(sizeA >= sizeB ? a.shape : b.shape);
    backend.engine.call.binary(
      operation,
      backend.floats(a),
      sizeA === 1 ? 0 : 1,
      backend.floats(b),
      sizeB === 1 ? 0 : 1,
      floats,
      Math.max(sizeA, sizeB),
    );
    return info;
  };
}

/** Products of matrices, batched or not; a batch of one matrix is repeated. */
const batchMatMul: EngineKernel = (backend, inputs, attributes) => {
  const { a, b } = inputs as { a: TensorInfo; b: TensorInfo };
  const { transposeA, transposeB } = attributes as unknown as {
    transposeA: boolean;
    transposeB: boolean;
  };
  const [rankA, rankB] = [a.shape.length, b.shape.length];
  const outer = tf.broadcast_util.assertAndGetBroadcastShape(
    a.shape.slice(0, -2),
    b.shape.slice(0, -2),
  );
  const batchA = tf.util.sizeFromShape(a.shape.slice(0, -2));
  const batchB = tf.util.sizeFromShape(b.shape.slice(0, -2));
  const batch = tf.util.sizeFromShape(outer);
  const covered =
    a.dtype === "float32" &&
    b.dtype === "float32" &&
    (batchA === batch || batchA === 1) &&
    (batchB === batch || batchB === 1);
  if (!covered) return inherited("BatchMatMul", backend, inputs, attributes);
  const [rowsA, columnsA] = [a.shape[rankA - 2]!, a.shape[rankA - 1]!];
  const [rowsB, columnsB] = [b.shape[rankB - 2]!, b.shape[rankB - 1]!];
  const m = transposeA ? columnsA : rowsA;
  const k = transposeA ? rowsA : columnsA;
  const n = transposeB ? rowsB : columnsB;
  if (k !== (transposeB ? columnsB : rowsB)) {
    throw new RangeError(
      `Cannot multiply matrices: the inner sizes must be equal, got [${a.shape}] and [${b.shape}]` +
        ` with transposeA ${transposeA} and transposeB ${transposeB}`,
    );
  }
  const { info, floats } = backend.output([...outer, m, n]);
  backend.engine.call.matmul(
    backend.floats(a),
    columnsA,
    transposeA,
    batchA === 1 ? 0 : rowsA * columnsA,
    backend.floats(b),
    columnsB,
    transposeB,
    batchB === 1 ? 0 : rowsB * columnsB,
    floats,
    n,
    m * n,
    batch,
    m,
    n,
    k,
    1,
    false,
  );
  return info;
};

/**
 * tfjs's cast to float32 says that truth values and whole numbers are floats and leaves the bytes as
 * they are, which only JavaScript can read. Here they become floats.
 */
const cast: EngineKernel = (backend, inputs, attributes) => {
  const { x } = inputs as { x: TensorInfo };
  const { dtype } = attributes as unknown as { dtype: string };
  if (dtype !== "float32" || (x.dtype !== "bool" && x.dtype !== "int32")) {
    return inherited("Cast", backend, inputs, attributes);
  }
  const values = Float32Array.from(backend.readSync(x.dataId) as Int32Array);
  return { dataId: backend.write(values, x.shape, "float32"), shape: x.shape, dtype: "float32" };
};

/** tfjs's own operations that a model spends time in. */
export const arithmeticKernels: Readonly<Record<string, EngineKernel>> = {
  Add: binary("Add", 0),
  Sub: binary("Sub", 1),
  Multiply: binary("Multiply", 2),
  RealDiv: binary("RealDiv", 3),
  BatchMatMul: batchMatMul,
  Cast: cast,
};
