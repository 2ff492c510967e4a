import type { TensorInfo } from "#tfjs";
import type { GpuBackend } from "../gpu-backend.js";
import { addBiases } from "../wgsl/elementwise.js";
import { matmul, TILE } from "../wgsl/matmul.js";
import { type GpuKernel, groupsOf, type Infos, sizeOf } from "./kernel.js";
import {
  multiply,
  multiplyApart,
  projectAll,
  projectAllBack,
  weightGradients,
} from "./products.js";

/** The inputs of up to three projections by a letter: w0, w1, w2. */
function each(inputs: Infos, letter: string): TensorInfo[] {
  return ["0", "1", "2"].flatMap((i) => inputs[`${letter}${i}`] ?? []);
}

const binding = (backend: GpuBackend, infos: readonly TensorInfo[]) =>
  infos.map((info) => backend.at(info));

/** What both ways begin with: the matrices of each projection, and their sizes. */
function opened(inputs: Infos) {
  const x = inputs["x"]!;
  const [weights, as, bs] = [each(inputs, "w"), each(inputs, "a"), each(inputs, "b")];
  const [width, rank] = [weights[0]!.shape[1]!, as[0]!.shape[0]!];
  const outputs = weights.map(({ shape }) => shape[0]!);
  return { x, weights, as, bs, width, rank, rows: sizeOf(x) / width, outputs };
}

/** y = x W^T + t B^T (+ bias) with t = scale x A^T, of up to three projections; then each t. */
const adapted: GpuKernel = (backend, inputs, { scale }) => {
  const { x, weights, as, bs, width, rank, rows, outputs } = opened(inputs);
  const biases = each(inputs, "bias");
  const ts = as.map(() => backend.output([rows, rank]));
  const ys = outputs.map((output) => backend.output([...x.shape.slice(0, -1), output]));
  const [at, tAt, yAt] = [backend.at(x), binding(backend, ts), binding(backend, ys)];
  if (weights.length === 1) {
    multiply(
      backend,
      { at, stride: width },
      { at: backend.at(as[0]!), stride: width, transposed: true },
      { at: tAt[0]!, stride: rank },
      { m: rows, n: rank, k: width, alpha: scale! },
    );
    backend.run({
      program: matmul({
        ...{ parts: 2, along: "depth", aTransposed: false, bTransposed: true },
        biased: biases.length > 0,
      }),
      buffers: [at, ...tAt, ...binding(backend, [...weights, ...bs, ...biases]), ...yAt],
      numbers: {
        whole: [rows, outputs[0]!, 0, width, rank, 0, 0, 0, 0, 0, 0, outputs[0]!],
        fractions: [1],
      },
      groups: [groupsOf(outputs[0]!, TILE), groupsOf(rows, TILE)],
    });
    return [...ys, ...ts];
  }
  projectAll(backend, at, as, ts, rows, scale!);
  projectAll(backend, at, weights, ys, rows);
  multiplyApart(
    backend,
    { along: "columns", aTransposed: false, bTransposed: true, accumulate: true },
    [tAt, binding(backend, bs), yAt],
    { m: rows, k: rank, sizes: outputs },
  );
  if (biases.length > 0) {
    const count = rows * outputs.reduce((sum, output) => sum + output, 0);
    backend.run({
      program: addBiases,
      buffers: [...binding(backend, biases), ...yAt],
      numbers: { whole: [count, ...outputs] },
      groups: [groupsOf(count, 256)],
    });
  }
  return [...ys, ...ts];
};

/** dx, then every A's gradient, then every B's. */
const adaptedGrad: GpuKernel = (backend, inputs, { scale }) => {
  const { x, weights, as, bs, rank, rows, outputs } = opened(inputs);
  const [ts, dys] = [each(inputs, "t"), each(inputs, "dy")];
  const scratch = ts.map(() => backend.scratch(rows * rank));
  const us = scratch.map(({ buffer }) => ({ buffer, offset: 0, size: 4 * rows * rank }));
  const [slopes, bAt] = [binding(backend, dys), binding(backend, bs)];
  const dx = backend.output(x.shape);
  let dbs: TensorInfo[];
  if (weights.length === 1) {
    multiply(
      backend,
      { at: slopes[0]!, stride: outputs[0]! },
      { at: bAt[0]!, stride: rank },
      { at: us[0]!, stride: rank },
      { m: rows, n: rank, k: outputs[0]!, alpha: scale! },
    );
    projectAllBack(backend, [slopes[0]!, us[0]!], [weights[0]!, as[0]!], dx, rows);
    dbs = weightGradients(backend, slopes, backend.at(ts[0]!), bs, rows);
  } else {
    multiplyApart(
      backend,
      { along: "depth", aTransposed: false, bTransposed: false },
      [slopes, bAt, us],
      { m: rows, n: rank, sizes: outputs, alpha: scale! },
    );
    projectAllBack(backend, slopes, weights, dx, rows);
    projectAllBack(backend, us, as, dx, rows, true);
    dbs = bs.map(({ shape }) => backend.output(shape));
    multiplyApart(
      backend,
      { along: "rows", aTransposed: true, bTransposed: false },
      [slopes, binding(backend, ts), binding(backend, dbs)],
      { n: rank, k: rows, sizes: outputs },
    );
  }
  const das = weightGradients(backend, us, backend.at(x), as, rows);
  for (const { release } of scratch) release();
  return [dx, ...das, ...dbs];
};

/** Projections with low-rank adapters, which alone are trained. */
export const gpuAdapterKernels: Readonly<Record<string, GpuKernel>> = {
  ArpoAdapted1: adapted,
  ArpoAdapted2: adapted,
  ArpoAdapted3: adapted,
  ArpoAdaptedGrad: adaptedGrad,
};
