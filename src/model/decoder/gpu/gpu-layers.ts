import type { Programs } from "../../../tensor/gpu/programs.js";
import {
  areFew,
  attendPages,
  fewGroups,
  fewRows,
  gated,
  rowsTogether,
  store,
} from "../../../tensor/gpu/wgsl/decode.js";
import { embed } from "../../../tensor/gpu/wgsl/elementwise.js";
import { matmul, TILE } from "../../../tensor/gpu/wgsl/matmul.js";
import { rmsNorm } from "../../../tensor/gpu/wgsl/norm.js";
import { answerWords, sampleRows } from "../../../tensor/gpu/wgsl/sample.js";
import { PAGE_SIZE } from "../pages.js";
import type { DecoderShape } from "../weights.js";
import type { GpuBuffers, GpuMatrix } from "./gpu-buffers.js";
import type { PackedStep } from "./gpu-step.js";
import type { GpuWeights } from "./gpu-weights.js";

/** Tokens that go through the layers together: fewer leave a large GPU idle, more would only take more memory. */
const CHUNK = 2048;

/** What a step is recorded from. */
interface StepToRecord {
  encoder: GPUCommandEncoder;
  device: GPUDevice;
  programs: Programs;
  buffers: GpuBuffers;
  shape: DecoderShape;
  weights: GpuWeights;
  packed: PackedStep;
  tokens: number;
  rows: number;
  top: number;
  /** Words of each row's support. */
  support: number;
  /** Pages that the cache must have room for. */
  pages: number;
}

/** Records a whole step, from token ids to what was sampled: the buffer it will be in. */
export function recordStep(step: StepToRecord): GPUBuffer {
  const { encoder, device, programs, buffers, shape, weights, packed } = step;
  const { hidden, heads, kvHeads, headDim, feedForward, vocabSize, normEps } = shape;
  const input = buffers.take("input", packed.bytes.byteLength);
  device.queue.writeBuffer(input, 0, packed.bytes);
  const given = Object.fromEntries(
    Object.entries(packed.at).map(([name, place]) => [name, { buffer: input, ...place }]),
  ) as Record<keyof PackedStep["at"], GPUBufferBinding>;
  const chunk = Math.min(CHUNK, step.tokens);
  const wide = (heads + 2 * kvHeads) * headDim;
  const take = (name: string, floats: number) => ({ buffer: buffers.take(name, 4 * floats) });
  const x = take("x", step.tokens * hidden);
  const normed = take("normed", Math.max(chunk, step.rows) * hidden);
  const inverse = take("inverse", Math.max(chunk, step.rows));
  const qkv = take("qkv", chunk * wide);
  const mixed = take("mixed", chunk * heads * headDim);
  const both = take("both", chunk * 2 * feedForward);
  const inside = take("inside", chunk * feedForward);
  const caches = Array.from({ length: shape.layers }, (_, i) => growCache(step, i));
  const turns = ["cos", "sin"].map((name) => ({ buffer: buffers.get(name)! }));

  const pass = encoder.beginComputePass();
  const groups256 = (count: number) => [Math.ceil(count / 256)] as const;
  const norm = (from: GPUBufferBinding, weight: GPUBuffer, rows: number) => {
    programs.record(pass, {
      program: rmsNorm,
      buffers: [from, { buffer: weight }, normed, inverse],
      numbers: { whole: [rows, hidden], fractions: [normEps] },
      groups: [rows],
    });
  };
  const project = (
    from: GPUBufferBinding,
    { buffer: weight, type, stride, scales }: GpuMatrix,
    to: GPUBufferBinding,
    [rows, outputs, inputs]: readonly [number, number, number],
    more: { bias?: GPUBuffer; add?: boolean } = {},
  ) => {
    const { bias, add = false } = more;
    const few = areFew(rows, outputs);
    programs.record(pass, {
      program: few
        ? fewRows({
            ...{ biased: bias !== undefined, accumulate: add, stored: type },
            ...{ rows: rowsTogether(rows), aligned: inputs % 8 === 0 && stride % 8 === 0 },
          })
        : matmul({
            ...{ parts: 1, along: "columns", aTransposed: false, bTransposed: true },
            ...{ biased: bias !== undefined, accumulate: add, stored: type, byLanes: true },
          }),
      buffers: [
        ...[from, { buffer: weight }],
        ...[scales, bias].flatMap((buffer) => (buffer ? [{ buffer }] : [])),
        to,
      ],
      numbers: {
        whole: [rows, outputs, inputs, outputs, 0, 0, 0, 0, 0, inputs, stride, outputs],
        fractions: [1],
      },
      groups: few ? fewGroups(rows, outputs) : [Math.ceil(outputs / TILE), Math.ceil(rows / TILE)],
    });
  };

  programs.record(pass, {
    program: embed(weights.embedding.type),
    buffers: [{ buffer: weights.embedding.buffer }, given.tokens, x],
    numbers: { whole: [step.tokens * hidden, hidden, vocabSize] },
    groups: groups256(step.tokens * hidden),
  });
  for (let first = 0; first < step.tokens; first += chunk) {
    const count = Math.min(chunk, step.tokens - first);
    const own = { buffer: x.buffer, offset: 4 * first * hidden, size: 4 * count * hidden };
    const copies = first === 0 ? packed.copies : 0;
    for (const [i, layer] of weights.layers.entries()) {
      const cache = { buffer: caches[i]! };
      norm(own, layer.inputNorm, count);
      project(normed, layer.qkv, qkv, [count, wide, hidden], { bias: layer.qkvBias });
      const { queryNorm, keyNorm } = layer;
      const norms = queryNorm && keyNorm ? [{ buffer: queryNorm }, { buffer: keyNorm }] : [];
      programs.record(pass, {
        program: store(norms.length > 0),
        buffers: [...turns, given.fed, given.pages, given.copies, ...norms, qkv, cache],
        numbers: {
          whole: [count, heads, kvHeads, headDim, PAGE_SIZE, first, copies],
          fractions: [normEps],
        },
        groups: [count + copies],
      });
      programs.record(pass, {
        program: attendPages(headDim),
        buffers: [qkv, cache, given.fed, given.pages, mixed],
        numbers: {
          whole: [count, heads, kvHeads, headDim, PAGE_SIZE, first],
          fractions: [1 / Math.sqrt(headDim)],
        },
        groups: [count, heads],
      });
      project(mixed, layer.output, own, [count, hidden, heads * headDim], { add: true });
      norm(own, layer.postNorm, count);
      project(normed, layer.gateUp, both, [count, 2 * feedForward, hidden]);
      programs.record(pass, {
        program: gated,
        buffers: [both, inside],
        numbers: { whole: [count * feedForward, feedForward] },
        groups: groups256(count * feedForward),
      });
      project(inside, layer.down, own, [count, hidden, feedForward], { add: true });
    }
  }

  const { rows, top } = step;
  const lasts = take("lasts", rows * hidden);
  programs.record(pass, {
    program: embed(),
    buffers: [x, given.lasts, lasts],
    numbers: { whole: [rows * hidden, hidden, step.tokens] },
    groups: groups256(rows * hidden),
  });
  norm(lasts, weights.finalNorm, rows);
  const logits = take("logits", rows * vocabSize);
  project(normed, weights.head, logits, [rows, vocabSize, hidden]);
  const answer = take("answer", rows * answerWords(top, step.support));
  programs.record(pass, {
    program: sampleRows,
    buffers: [logits, given.settings, given.allowed, given.seen, answer],
    numbers: {
      whole: [...[rows, vocabSize, top], ...[Math.ceil(vocabSize / 32), step.support]],
    },
    groups: [rows],
  });
  pass.end();
  return answer.buffer;
}

/** A layer's keys and values, with room for more pages where there must be: what it held is copied. */
function growCache({ encoder, buffers, shape, pages }: StepToRecord, layer: number): GPUBuffer {
  const name = `keys and values of layer ${layer}`;
  const before = buffers.get(name);
  const bytes = pages * 2 * PAGE_SIZE * shape.kvHeads * shape.headDim * 4;
  const now = buffers.take(name, bytes);
  if (before && before !== now) encoder.copyBufferToBuffer(before, 0, now, 0, before.size);
  return now;
}
