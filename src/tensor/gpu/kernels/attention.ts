import type { TensorInfo } from "#tfjs";
import {
  attention,
  attentionDelta,
  attentionKeyGrad,
  attentionQueryGrad,
  BLOCK,
} from "../wgsl/attention.js";
import { type GpuKernel, groupsOf } from "./kernel.js";

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
export const gpuAttentionKernels: Readonly<Record<string, GpuKernel>> = {
  ArpoCausalAttention: attentionKernel,
  ArpoCausalAttentionPadded: attentionKernel,
  ArpoCausalAttentionGrad: attentionGrad,
};
