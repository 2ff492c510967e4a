import type { TensorInfo } from "#tfjs";
import { GpuBackend } from "./gpu-backend.js";
import { gpuAdapterKernels } from "./kernels/adapters.js";
import {
  type GpuKernel,
  groupsOf,
  type Infos,
  registerGpuKernels,
  sizeOf,
} from "./kernels/kernel.js";
import { gpuTransformerKernels } from "./kernels/transformer.js";
import { gpuVocabularyKernels } from "./kernels/vocabulary.js";
import type { Program } from "./programs.js";
import { gather, layouts, together } from "./slab.js";
import {
  attention,
  attentionDelta,
  attentionKeyGrad,
  attentionQueryGrad,
  BLOCK,
} from "./wgsl/attention.js";
import { declare, entry } from "./wgsl/shader.js";

/** Partial sums of squares, one for each workgroup; and their sum. */
export const squares: Program = {
  key: "squares",
  code: () => `${declare({ reads: ["x"], writes: ["sums"], whole: ["count", "groups"] })}
var<workgroup> red: array<f32, 256>;
${entry(
  256,
  `  var sum = 0.0;
  for (var i = group * 256u + lid; i < p.count; i += p.groups * 256u) { sum = fma(x[i], x[i], sum); }
  red[lid] = sum;
  workgroupBarrier();
  for (var half = 128u; half > 0u; half /= 2u) {
    if (lid < half) { red[lid] += red[lid + half]; }
    workgroupBarrier();
  }
  if (lid == 0u) { sums[group] = red[0]; }`,
)}`,
};

const addUp: Program = {
  key: "add up",
  code: () => `${declare({ reads: ["x"], writes: ["sum"], whole: ["count"] })}
var<workgroup> red: array<f32, 256>;
${entry(
  256,
  `  var all = 0.0;
  for (var i = lid; i < p.count; i += 256u) { all += x[i]; }
  red[lid] = all;
  workgroupBarrier();
  for (var half = 128u; half > 0u; half /= 2u) {
    if (lid < half) { red[lid] += red[lid + half]; }
    workgroupBarrier();
  }
  if (lid == 0u) { sum[0] = red[0]; }`,
)}`,
};

/** AdamW over everything at once: parameters and moments lie in one buffer each. */
export const adamw: Program = {
  key: "adamw",
  code: () => `${declare({
    reads: ["gradient"],
    writes: ["parameter", "m", "v"],
    whole: ["count"],
    fractions: [
      "rate",
      "beta1",
      "beta2",
      "epsilon",
      "decay",
      "scale",
      "correction1",
      "correction2",
      "rest1",
      "rest2",
    ],
  })}
${entry(
  256,
  `  let i = group * 256u + lid;
  if (i >= p.count) { return; }
  let g = gradient[i] * p.scale;
  let first = m[i] * p.beta1 + g * p.rest1;
  let second = v[i] * p.beta2 + g * g * p.rest2;
  m[i] = first; v[i] = second;
  let step = first / p.correction1 / (sqrt(second / p.correction2) + p.epsilon);
  parameter[i] = parameter[i] * p.decay - step * p.rate;`,
)}`,
};

type Heads = Record<"q" | "k" | "v", TensorInfo> & { lengths?: TensorInfo };

function layout({ q, k, lengths }: Heads) {
  const [batch, time, heads, headDim] = q.shape as [number, number, number, number];
  const kvHeads = k.shape[2]!;
  const numbers = {
    whole: [batch, time, heads, kvHeads, headDim, lengths ? 1 : 0],
    fractions: [1 / Math.sqrt(headDim)],
  };
  return { batch, time, heads, kvHeads, headDim, numbers };
}

const attentionKernel: GpuKernel = (backend, inputs) => {
  const { q, k, v, lengths } = inputs as Heads;
  const { batch, time, heads, headDim, numbers } = layout(inputs as Heads);
  const out = backend.output([batch, time, heads * headDim]);
  const normaliser = backend.output([batch, heads, time]);
  backend.run({
    program: attention(headDim),
    // Where no lengths are given any array stands in their place: it is not looked at.
    buffers: [q, k, v, lengths ?? q, out, normaliser].map((t) => backend.at(t)),
    numbers,
    groups: [groupsOf(time, BLOCK), batch * heads],
  });
  return [out, normaliser];
};

const attentionGrad: GpuKernel = (backend, inputs) => {
  const { q, k, v, lengths, dy, out, normaliser } = inputs as Heads &
    Record<"dy" | "out" | "normaliser", TensorInfo>;
  const { batch, time, heads, kvHeads, headDim, numbers } = layout(inputs as Heads);
  const count = batch * time * heads;
  const { buffer, release } = backend.scratch(count);
  backend.run({
    program: attentionDelta,
    buffers: [backend.at(dy), backend.at(out), { buffer }],
    numbers: { whole: [time, heads, headDim, count] },
    groups: [groupsOf(count, 64)],
  });
  const given = [...[dy, q, k, v, lengths ?? q, normaliser].map((t) => backend.at(t)), { buffer }];
  const [dq, dk, dv] = [q, k, v].map(({ shape }) => backend.output(shape)) as [
    TensorInfo,
    TensorInfo,
    TensorInfo,
  ];
  backend.run({
    program: attentionQueryGrad(headDim),
    buffers: [...given, backend.at(dq)],
    numbers,
    groups: [groupsOf(time, BLOCK), batch * heads],
  });
  backend.run({
    program: attentionKeyGrad(headDim),
    buffers: [...given, backend.at(dk), backend.at(dv)],
    numbers,
    groups: [groupsOf(time, BLOCK), batch * kvHeads],
  });
  release();
  return [dq, dk, dv];
};

/** Attention that never holds the scores of a whole row. */
const gpuAttentionKernels: Readonly<Record<string, GpuKernel>> = {
  ArpoCausalAttention: attentionKernel,
  ArpoCausalAttentionPadded: attentionKernel,
  ArpoCausalAttentionGrad: attentionGrad,
};

/** Workgroups of a sum; more would only make more to add up. */
const SUMS = 256;

/** Gradients that were put together for their norm, and are needed once more for the step. */
interface Gathered {
  ids: TensorInfo["dataId"][];
  parts: { first: number; count: number; bytes: number; buffer: GPUBuffer; release(): void }[];
}
const gathered = new WeakMap<GpuBackend, Gathered>();

function named(inputs: Infos, name: string): TensorInfo[] {
  const found: TensorInfo[] = [];
  for (let i = 0; `${name}${i}` in inputs; i++) found.push(inputs[`${name}${i}`]!);
  return found;
}

function release(backend: GpuBackend): void {
  for (const part of gathered.get(backend)?.parts ?? []) part.release();
  gathered.delete(backend);
}

function plan(backend: GpuBackend, tensors: readonly TensorInfo[]) {
  const { maxStorageBufferBindingSize, maxBufferSize } = backend.device.limits;
  const limit = Math.min(maxStorageBufferBindingSize, maxBufferSize);
  return layouts(tensors.map(sizeOf), limit);
}

/** All gradients in one buffer, or as few as the device's limits allow. */
function gatherGradients(backend: GpuBackend, gradients: readonly TensorInfo[]): Gathered {
  const before = gathered.get(backend);
  const same = ({ ids }: Gathered) =>
    ids.length === gradients.length && ids.every((id, i) => id === gradients[i]!.dataId);
  if (before && same(before)) return before;
  release(backend);
  const parts = plan(backend, gradients).map(({ first, layout }) => {
    const scratch = backend.scratch(layout.bytes / 4);
    const buffer = scratch.buffer;
    const count = layout.offsets.length;
    backend.clear({ buffer });
    gather(backend, gradients.slice(first, first + count), layout, buffer);
    return { first, count, bytes: layout.bytes, buffer, release: scratch.release };
  });
  const made = { ids: gradients.map(({ dataId }) => dataId), parts };
  gathered.set(backend, made);
  return made;
}

const squareSum: GpuKernel = (backend, inputs) => {
  const { parts } = gatherGradients(backend, named(inputs, "gradient"));
  const sums = backend.scratch(SUMS * parts.length);
  backend.clear({ buffer: sums.buffer });
  for (const [i, { buffer, bytes }] of parts.entries()) {
    // Each takes at least eight numbers a thread: fewer are not worth a workgroup.
    const groups = Math.min(SUMS, groupsOf(bytes / 4, 256 * 8));
    backend.run({
      program: squares,
      buffers: [{ buffer }, { buffer: sums.buffer, offset: 4 * SUMS * i, size: 4 * SUMS }],
      numbers: { whole: [bytes / 4, groups] },
      groups: [groups],
    });
  }
  const out = backend.output([]);
  backend.run({
    program: addUp,
    buffers: [{ buffer: sums.buffer }, backend.at(out)],
    numbers: { whole: [SUMS * parts.length] },
    groups: [1],
  });
  sums.release();
  return out;
};

/** Parameters, m and v change in place; there is no result. */
const adamwKernel: GpuKernel = (backend, inputs, s) => {
  const { parts } = gatherGradients(backend, named(inputs, "gradient"));
  const kinds = ["parameter", "m", "v"].map((name) => named(inputs, name));
  const plans = plan(backend, kinds[0]!);
  for (const [i, { first, count, bytes, buffer }] of parts.entries()) {
    const own = kinds.map((tensors) => tensors.slice(first, first + count));
    const shared = own.map((tensors) => together(backend, tensors, plans[i]!.layout));
    backend.run({
      program: adamw,
      buffers: [buffer, ...shared].map((each) => ({ buffer: each, offset: 0, size: bytes })),
      numbers: {
        whole: [bytes / 4],
        fractions: [
          ...[s["learningRate"]!, s["beta1"]!, s["beta2"]!, s["epsilon"]!],
          ...[1 - s["learningRate"]! * s["weightDecay"]!, s["scale"]!],
          ...[s["correction1"]!, s["correction2"]!, 1 - s["beta1"]!, 1 - s["beta2"]!],
        ],
      },
      groups: [groupsOf(bytes / 4, 256)],
    });
    for (const tensor of own.flat()) backend.changed(tensor);
  }
  release(backend);
  return [];
};

/** What the optimiser does to all parameters at once. */
const gpuOptimiserKernels: Readonly<Record<string, GpuKernel>> = {
  ArpoAdamW: adamwKernel,
  ArpoSquareSum: squareSum,
};

/** The GPU backend on a device, in Node or a browser: tfjs's with fused kernels. */
export function startGpuBackend(device: GPUDevice): GpuBackend {
  for (const kernels of [
    gpuTransformerKernels,
    gpuAdapterKernels,
    gpuAttentionKernels,
    gpuVocabularyKernels,
    gpuOptimiserKernels,
  ]) {
    registerGpuKernels(kernels);
  }
  return new GpuBackend(device, device.adapterInfo);
}
