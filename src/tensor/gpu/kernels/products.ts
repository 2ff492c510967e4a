import type { TensorInfo } from "#tfjs";
import { largeGroups, largeMatmul } from "../wgsl/large-matmul.js";
import { matmul, type MatmulKind, TILE } from "../wgsl/matmul.js";
import { columnSums } from "../wgsl/norm.js";
import type { GpuBackend } from "../gpu-backend.js";
import { groupsOf } from "./kernel.js";

/** A matrix in a buffer: where it begins and how far its rows are apart, in numbers. */
interface Matrix {
  at: GPUBufferBinding;
  stride: number;
  transposed?: boolean;
  offset?: number;
}

interface Product {
  m: number;
  n: number;
  k: number;
  alpha?: number;
  bias?: GPUBufferBinding;
  accumulate?: boolean;
}

/** C (+)= alpha A B (+ bias). */
export function multiply(
  backend: GpuBackend,
  a: Matrix,
  b: Matrix,
  c: Matrix,
  product: Product,
): void {
  const { m, n, k, alpha = 1, bias, accumulate = false } = product;
  const offsets = [a.offset ?? 0, b.offset ?? 0, c.offset ?? 0];
  const strides = [a.stride, b.stride, c.stride];
  const kind = {
    ...{ accumulate, biased: bias !== undefined },
    ...{ aTransposed: a.transposed ?? false, bTransposed: b.transposed ?? false },
  };
  const large = largeGroups(kind, { m, n, k, places: [...offsets, ...strides] });
  backend.run({
    program: large ? largeMatmul(kind) : matmul({ parts: 1, along: "columns", ...kind }),
    buffers: [a.at, b.at, ...(bias ? [bias] : []), c.at],
    numbers: { whole: [m, n, k, n, 0, 0, ...offsets, ...strides], fractions: [alpha] },
    groups: large ?? [groupsOf(n, TILE), groupsOf(m, TILE)],
  });
}

const tiles = (sizes: readonly number[]) =>
  sizes.reduce((sum, size) => sum + groupsOf(size, TILE), 0);

/** alpha x times several matrices [out, in], in one dispatch. */
export function projectAll(
  backend: GpuBackend,
  x: GPUBufferBinding,
  weights: readonly TensorInfo[],
  outs: readonly TensorInfo[],
  rows: number,
  alpha = 1,
): void {
  const inputs = weights[0]!.shape[1]!;
  const sizes = weights.map(({ shape }) => shape[0]!);
  backend.run({
    program: matmul({
      ...{
        parts: weights.length as 2 | 3,
        along: "columns",
        aTransposed: false,
        bTransposed: true,
      },
    }),
    buffers: [x, ...weights.map((w) => backend.at(w)), ...outs.map((out) => backend.at(out))],
    numbers: { whole: [rows, 0, inputs, ...three(sizes), 0, 0, 0, 0, 0, 0], fractions: [alpha] },
    groups: [tiles(sizes), groupsOf(rows, TILE)],
  });
}

/** dx (+)= the sum of dy W over several, in one dispatch. */
export function projectAllBack(
  backend: GpuBackend,
  dys: readonly GPUBufferBinding[],
  weights: readonly TensorInfo[],
  dx: TensorInfo,
  rows: number,
  accumulate = false,
): void {
  const inputs = weights[0]!.shape[1]!;
  const sizes = weights.map(({ shape }) => shape[0]!);
  backend.run({
    program: matmul({
      ...{ parts: weights.length as 2 | 3, along: "depth", aTransposed: false, bTransposed: false },
      accumulate,
    }),
    buffers: [...dys, ...weights.map((w) => backend.at(w)), backend.at(dx)],
    numbers: {
      whole: [rows, inputs, 0, ...three(sizes), 0, 0, 0, 0, 0, inputs],
      fractions: [1],
    },
    groups: [groupsOf(inputs, TILE), groupsOf(rows, TILE)],
  });
}

/** The gradients of several matrices, dy^T x, in one dispatch. */
export function weightGradients(
  backend: GpuBackend,
  dys: readonly GPUBufferBinding[],
  x: GPUBufferBinding,
  weights: readonly TensorInfo[],
  rows: number,
): TensorInfo[] {
  const inputs = weights[0]!.shape[1]!;
  const sizes = weights.map(({ shape }) => shape[0]!);
  const dws = weights.map(({ shape }) => backend.output(shape));
  if (weights.length === 1) {
    const [dy, dw, stride] = [{ at: dys[0]!, transposed: true }, backend.at(dws[0]!), sizes[0]!];
    const product = { m: stride, n: inputs, k: rows };
    multiply(backend, { ...dy, stride }, { at: x, stride: inputs }, { at: dw, stride: inputs }, product); // prettier-ignore
    return dws;
  }
  backend.run({
    program: matmul({
      ...{
        parts: weights.length as 2 | 3,
        along: "rows",
        aTransposed: true,
        bTransposed: false,
      },
    }),
    buffers: [...dys, x, ...dws.map((dw) => backend.at(dw))],
    numbers: {
      whole: [sizes[0]!, inputs, rows, ...three(sizes), 0, 0, 0, sizes[0]!, inputs, inputs],
      fractions: [1],
    },
    groups: [groupsOf(inputs, TILE), tiles(sizes)],
  });
  return dws;
}

/** Sums of the columns of up to three arrays of the same rows, in one dispatch. */
export function sumColumns(
  backend: GpuBackend,
  dys: readonly GPUBufferBinding[],
  widths: readonly number[],
  rows: number,
): TensorInfo[] {
  const sums = widths.map((width) => backend.output([width]));
  backend.run({
    program: columnSums(dys.length as 1 | 2 | 3, false),
    buffers: [...dys, ...sums.map((sum) => backend.at(sum))],
    numbers: { whole: [rows, ...three(widths)] },
    groups: [widths.reduce((all, width) => all + groupsOf(width, 16), 0)],
  });
  return sums;
}

/** Products that share nothing, in one dispatch; `sizes` are theirs along the axis they differ in. */
export function multiplyApart(
  backend: GpuBackend,
  kind: Omit<MatmulKind, "parts" | "apart">,
  [as, bs, cs]: readonly (readonly GPUBufferBinding[])[],
  { m = 0, n = 0, k = 0, sizes, alpha = 1 }: Partial<Product> & { sizes: readonly number[] },
): void {
  const joined = kind.along === "depth" ? tiles(sizes.map(() => n)) : tiles(sizes);
  backend.run({
    program: matmul({ ...kind, parts: sizes.length as 2 | 3, apart: true }),
    buffers: [...as!, ...bs!, ...cs!],
    numbers: { whole: [m, n, k, ...three(sizes), 0, 0, 0, 0, 0, 0], fractions: [alpha] },
    groups: kind.along === "rows" ? [groupsOf(n, TILE), joined] : [joined, groupsOf(m, TILE)],
  });
}

const three = (sizes: readonly number[]) => [sizes[0] ?? 0, sizes[1] ?? 0, sizes[2] ?? 0];
