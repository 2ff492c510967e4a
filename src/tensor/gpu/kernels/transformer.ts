import type { TensorInfo } from "#tfjs";
import type { GpuBackend } from "../gpu-backend.js";
import { addBiases, biasAndTurn, swiglu, swigluGrad, turn } from "../wgsl/elementwise.js";
import { columnSums, rmsNorm, rmsNormGrad } from "../wgsl/norm.js";
import { type GpuKernel, groupsOf, type Infos, sizeOf } from "./kernel.js";
import { multiply, projectAll, projectAllBack, sumColumns, weightGradients } from "./products.js";

/** All but the last axis counted as rows. */
function rowsOf(info: TensorInfo): { rows: number; width: number } {
  const width = info.shape[info.shape.length - 1]!;
  return { rows: sizeOf(info) / width, width };
}

function norm(
  backend: GpuBackend,
  x: TensorInfo,
  weight: TensorInfo,
  epsilon: number,
): [TensorInfo, TensorInfo] {
  const { rows, width } = rowsOf(x);
  const [y, inverse] = [backend.output(x.shape), backend.output([rows])];
  backend.run({
    program: rmsNorm,
    buffers: [x, weight, y, inverse].map((t) => backend.at(t)),
    numbers: { whole: [rows, width], fractions: [epsilon] },
    groups: [rows],
  });
  return [y, inverse];
}

/** The gradients of a norm's input, which may lie in scratch, and weight. */
function normBack(
  backend: GpuBackend,
  dy: GPUBufferBinding,
  given: readonly [x: TensorInfo, weight: TensorInfo, inverse: TensorInfo],
  dx: GPUBufferBinding,
): TensorInfo {
  const { rows, width } = rowsOf(given[0]);
  const [x, weight, inverse] = given.map((t) => backend.at(t)) as [
    GPUBufferBinding,
    GPUBufferBinding,
    GPUBufferBinding,
  ];
  backend.run({
    program: rmsNormGrad,
    buffers: [dy, x, weight, inverse, dx],
    numbers: { whole: [rows, width] },
    groups: [rows],
  });
  const dweight = backend.output([width]);
  backend.run({
    program: columnSums(1, true),
    buffers: [dy, x, inverse, backend.at(dweight)],
    numbers: { whole: [rows, width, 0, 0] },
    groups: [groupsOf(width, 16)],
  });
  return dweight;
}

const rmsNormKernel: GpuKernel = (backend, { x, weight }, { epsilon }) =>
  norm(backend, x!, weight!, epsilon!);

const rmsNormGradKernel: GpuKernel = (backend, { dy, x, weight, inverse }) => {
  const dx = backend.output(x!.shape);
  return [dx, normBack(backend, backend.at(dy!), [x!, weight!, inverse!], backend.at(dx))];
};

const linear: GpuKernel = (backend, { x, weight, bias }) => {
  const { rows, width } = rowsOf(x!);
  const outputs = weight!.shape[0]!;
  const y = backend.output([...x!.shape.slice(0, -1), outputs]);
  multiply(
    backend,
    { at: backend.at(x!), stride: width },
    { at: backend.at(weight!), stride: width, transposed: true },
    { at: backend.at(y), stride: outputs },
    { m: rows, n: outputs, k: width, ...(bias ? { bias: backend.at(bias) } : {}) },
  );
  return y;
};

const linearGrad: GpuKernel = (backend, { dy, x, weight }, { biased }) => {
  const { rows, width } = rowsOf(x!);
  const outputs = weight!.shape[0]!;
  const slope = backend.at(dy!);
  const dx = backend.output(x!.shape);
  multiply(
    backend,
    { at: slope, stride: outputs },
    { at: backend.at(weight!), stride: width },
    { at: backend.at(dx), stride: width },
    { m: rows, n: width, k: outputs },
  );
  const dws = weightGradients(backend, [slope], backend.at(x!), [weight!], rows);
  return [dx, ...dws, ...(biased ? sumColumns(backend, [slope], [outputs], rows) : [])];
};

const letters = ["q", "k", "v"] as const;

interface Turned {
  time: number;
  headDim: number;
  heads: readonly [number, number];
  rows: number;
}

/** The numbers of a turn of queries and keys: pairs of both, one after the other. */
function turnNumbers({ time, headDim, heads: [a, b], rows }: Turned, direction: 1 | -1) {
  const half = headDim / 2;
  const count = rows * (a + b) * half;
  return {
    numbers: { whole: [time, half, a, b, rows * a * half, count], fractions: [direction] },
    groups: [groupsOf(count, 256)] as const,
  };
}

/** q, k, v, and for a model with head norms: q and k before them, with the norms' inverses. */
const qkv: GpuKernel = (backend, inputs, { heads, kvHeads, headDim, epsilon }) => {
  const { x, cos, sin } = inputs as Infos & Record<"x" | "cos" | "sin", TensorInfo>;
  const [batch, time] = x.shape as [number, number];
  const rows = batch * time;
  const counts = { q: heads!, k: kvHeads!, v: kvHeads! };
  const outs = letters.map((l) => backend.output([batch, time, counts[l], headDim!]));
  projectAll(
    backend,
    backend.at(x),
    letters.map((l) => inputs[`w${l}`]!),
    outs,
    rows,
  );
  const biases = letters.map((l) => inputs[`b${l}`]);
  const turned = turnNumbers({ time, headDim: headDim!, heads: [heads!, kvHeads!], rows }, 1);
  const rotary = [backend.at(cos), backend.at(sin)];
  const at = outs.map((out) => backend.at(out));
  if (!inputs["qNorm"]) {
    const given = biases[0] ? biases.map((b) => backend.at(b!)) : [];
    backend.run({
      program: biasAndTurn(given.length > 0),
      buffers: [...rotary, ...given, ...at.slice(0, given.length > 0 ? 3 : 2)],
      ...turned,
    });
    return outs;
  }
  if (biases[0]) {
    const widths = letters.map((l) => counts[l] * headDim!);
    const count = rows * widths.reduce((a, b) => a + b, 0);
    backend.run({
      program: addBiases,
      buffers: [...biases.map((b) => backend.at(b!)), ...at],
      numbers: { whole: [count, ...widths] },
      groups: [groupsOf(count, 256)],
    });
  }
  const [q, qInverse] = norm(backend, outs[0]!, inputs["qNorm"], epsilon!);
  const [k, kInverse] = norm(backend, outs[1]!, inputs["kNorm"]!, epsilon!);
  backend.run({
    program: biasAndTurn(false),
    buffers: [...rotary, backend.at(q), backend.at(k)],
    ...turned,
  });
  return [q, k, outs[2]!, outs[0]!, qInverse, outs[1]!, kInverse];
};

/** dx, then for each of q, k, v: the weight's, the bias's and the norm's gradient, where given. */
const qkvGrad: GpuKernel = (backend, inputs, { biased, headDim }) => {
  const { x, cos, sin, dq, dk, dv } = inputs as Record<
    "x" | "cos" | "sin" | "dq" | "dk" | "dv",
    TensorInfo
  >;
  const [batch, time] = x.shape as [number, number];
  const rows = batch * time;
  const weights = letters.map((l) => inputs[`w${l}`]!);
  const widths = weights.map(({ shape }) => shape[0]!);
  const scratch = [backend.scratch(rows * widths[0]!), backend.scratch(rows * widths[1]!)];
  const bind = ({ buffer }: GPUBufferBinding): GPUBufferBinding => ({ buffer });
  let slopes = scratch.map(bind);
  const heads = [widths[0]! / headDim!, widths[1]! / headDim!] as const;
  backend.run({
    program: turn(true),
    buffers: [cos, sin, dq, dk].map((t) => backend.at(t)).concat(slopes),
    ...turnNumbers({ time, headDim: headDim!, heads, rows }, -1),
  });
  const norms: (TensorInfo | undefined)[] = [undefined, undefined, undefined];
  if (inputs["qNorm"]) {
    slopes = slopes.map((slope, i) => {
      const letter = letters[i]!;
      const before = backend.scratch(rows * widths[i]!);
      scratch.push(before);
      norms[i] = normBack(
        backend,
        slope,
        [inputs[`${letter}Before`]!, inputs[`${letter}Norm`]!, inputs[`${letter}Inverse`]!],
        bind(before),
      );
      return bind(before);
    });
  }
  slopes.push(backend.at(dv));
  const dx = backend.output(x.shape);
  projectAllBack(backend, slopes, weights, dx, rows);
  const dws = weightGradients(backend, slopes, backend.at(x), weights, rows);
  const dbs = biased ? sumColumns(backend, slopes, widths, rows) : [];
  for (const { release } of scratch) release();
  return [
    dx,
    ...letters.flatMap((_, i) => [dws[i], dbs[i], norms[i]].filter((t) => t !== undefined)),
  ];
};

/** Turned by the angles of the positions, or back. */
const rope: GpuKernel = (backend, inputs, { back }) => {
  const { x, cos, sin } = inputs as Record<"x" | "cos" | "sin", TensorInfo>;
  const [batch, time, count, headDim] = x.shape as [number, number, number, number];
  const out = backend.output(x.shape);
  backend.run({
    program: turn(false),
    buffers: [cos, sin, x, out].map((t) => backend.at(t)),
    ...turnNumbers({ time, headDim, heads: [count, 0], rows: batch * time }, back ? -1 : 1),
  });
  return out;
};

function alike(count: number) {
  return { numbers: { whole: [count] }, groups: [groupsOf(count, 256)] as const };
}

const swigluKernel: GpuKernel = (backend, { gate, up }) => {
  const out = backend.output(gate!.shape);
  const buffers = [gate!, up!, out].map((t) => backend.at(t));
  backend.run({ program: swiglu, buffers, ...alike(sizeOf(gate!)) });
  return out;
};

const swigluGradKernel: GpuKernel = (backend, { dy, gate, up }) => {
  const [dgate, dup] = [backend.output(gate!.shape), backend.output(gate!.shape)];
  const buffers = [dy!, gate!, up!, dgate, dup].map((t) => backend.at(t));
  backend.run({ program: swigluGrad, buffers, ...alike(sizeOf(gate!)) });
  return [dgate, dup];
};

/** The fused ops of a transformer block, but for attention. */
export const gpuTransformerKernels: Readonly<Record<string, GpuKernel>> = {
  ArpoRmsNorm: rmsNormKernel,
  ArpoRmsNormGrad: rmsNormGradKernel,
  ArpoLinear: linear,
  ArpoLinearGrad: linearGrad,
  ArpoQkv: qkv,
  ArpoQkvNormed: qkv,
  ArpoQkvGrad: qkvGrad,
  ArpoRope: rope,
  ArpoSwiglu: swigluKernel,
  ArpoSwigluGrad: swigluGradKernel,
};
