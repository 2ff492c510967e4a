import type { TensorInfo } from "#tfjs";
import { embed, embedGrad } from "../wgsl/elementwise.js";
import { TILE } from "../wgsl/matmul.js";
import { largest, logitGrad, logProb, logProbParts } from "../wgsl/vocabulary.js";
import type { GpuBackend } from "../gpu-backend.js";
import { type GpuKernel, groupsOf, sizeOf } from "./kernel.js";
import { multiply } from "./products.js";

/** Logits in memory at any time, in bytes. */
const LOGIT_BYTES = 1 << 26;
/** Workgroups that keep a large card busy. */
const BUSY = 512;

const embedKernel: GpuKernel = (backend, { table, ids }) => {
  const [vocabulary, width] = table!.shape as [number, number];
  const out = backend.output([...ids!.shape, width]);
  const count = sizeOf(out);
  if (count === 0) return out;
  backend.run({
    program: embed(),
    buffers: [table!, ids!, out].map((t) => backend.at(t)),
    numbers: { whole: [count, width, vocabulary] },
    groups: [groupsOf(count, 256)],
  });
  return out;
};

const embedGradKernel: GpuKernel = (backend, { dy, ids }, { vocabulary }) => {
  const width = dy!.shape[dy!.shape.length - 1]!;
  const rows = sizeOf(ids!);
  const dtable = backend.output([vocabulary!, width]);
  const at = backend.at(dtable);
  backend.clear(at);
  if (rows === 0) return dtable;
  backend.run({
    program: embedGrad,
    buffers: [backend.at(dy!), backend.at(ids!), at],
    numbers: { whole: [rows, width, vocabulary!] },
    groups: [rows],
  });
  return dtable;
};

/** Log-probabilities, entropies and normalisers. */
function logProbs(
  backend: GpuBackend,
  { hidden, head, labels }: Record<"hidden" | "head" | "labels", TensorInfo>,
  temperature: number,
): [TensorInfo, TensorInfo, TensorInfo] {
  const [rows, width] = hidden.shape as [number, number];
  const vocabulary = head.shape[0]!;
  const outs = [0, 1, 2].map(() => backend.output([rows])) as [TensorInfo, TensorInfo, TensorInfo];
  if (rows === 0) return outs;
  const rowTiles = groupsOf(rows, TILE);
  const shares = Math.min(64, Math.ceil(BUSY / rowTiles), groupsOf(vocabulary, TILE));
  const share = TILE * Math.ceil(groupsOf(vocabulary, TILE) / shares);
  const splits = Math.ceil(vocabulary / share);
  const { buffer, release } = backend.scratch(4 * rows * splits);
  backend.run({
    program: logProbParts,
    buffers: [...[hidden, head, labels].map((t) => backend.at(t)), { buffer }],
    numbers: { whole: [rows, width, vocabulary, share], fractions: [1 / temperature] },
    groups: [rowTiles, splits],
  });
  backend.run({
    program: logProb,
    buffers: [{ buffer }, ...outs.map((t) => backend.at(t))],
    numbers: { whole: [rows, splits] },
    groups: [groupsOf(rows, 64)],
  });
  release();
  return outs;
}

/** Words whose logits are in memory together: as many as the budget allows, in whole tiles. */
function wordsAtOnce(backend: GpuBackend, rows: number, vocabulary: number): number {
  const bytes = Math.min(LOGIT_BYTES, backend.device.limits.maxStorageBufferBindingSize);
  const fit = Math.floor(bytes / (4 * rows * TILE)) * TILE;
  return Math.min(vocabulary, Math.max(TILE, fit));
}

const logProbEntropy: GpuKernel = (backend, inputs, { temperature }) =>
  logProbs(backend, inputs as Record<"hidden" | "head" | "labels", TensorInfo>, temperature!);

const logProbEntropyGrad: GpuKernel = (backend, inputs, { temperature, frozen }) => {
  const { dlogprobs, dentropies, hidden, head, labels, entropies, normaliser } = inputs as Record<
    "dlogprobs" | "dentropies" | "hidden" | "head" | "labels" | "entropies" | "normaliser",
    TensorInfo
  >;
  const [rows, width] = hidden.shape as [number, number];
  const vocabulary = head.shape[0]!;
  const dhidden = backend.output(hidden.shape);
  const dhead = frozen ? undefined : backend.output(head.shape);
  const words = wordsAtOnce(backend, rows, vocabulary);
  const { buffer, release } = backend.scratch(rows * words);
  const given = [hidden, head, labels, normaliser, entropies, dlogprobs, dentropies];
  for (let first = 0; first < vocabulary; first += words) {
    const count = Math.min(words, vocabulary - first);
    backend.run({
      program: logitGrad,
      buffers: [...given.map((t) => backend.at(t)), { buffer }],
      numbers: { whole: [rows, width, first, count], fractions: [1 / temperature!] },
      groups: [groupsOf(count, TILE), groupsOf(rows, TILE)],
    });
    multiply(
      backend,
      { at: { buffer }, stride: count },
      { at: backend.at(head), stride: width, offset: first * width },
      { at: backend.at(dhidden), stride: width },
      { m: rows, n: width, k: count, accumulate: first > 0 },
    );
    if (!dhead) continue;
    multiply(
      backend,
      { at: { buffer }, stride: count, transposed: true },
      { at: backend.at(hidden), stride: width },
      { at: backend.at(dhead), stride: width, offset: first * width },
      { m: count, n: width, k: rows },
    );
  }
  release();
  return dhead ? [dhidden, dhead] : [dhidden];
};

const topK: GpuKernel = (backend, inputs, { k, temperature }) => {
  const { hidden, head } = inputs as Record<"hidden" | "head", TensorInfo>;
  const [rows, width] = hidden.shape as [number, number];
  const vocabulary = head.shape[0]!;
  const labels = backend.output([rows], "int32");
  backend.clear(backend.at(labels));
  const [logprobs, entropies, normaliser] = logProbs(
    backend,
    { hidden, head, labels },
    temperature!,
  );
  const words = wordsAtOnce(backend, rows, vocabulary);
  const chunks = Math.ceil(vocabulary / words);
  const logits = backend.scratch(rows * words);
  const values = backend.scratch(rows * chunks * k!);
  const names = backend.scratch(rows * chunks * k!);
  for (let chunk = 0; chunk < chunks; chunk++) {
    const first = chunk * words;
    const count = Math.min(words, vocabulary - first);
    multiply(
      backend,
      { at: backend.at(hidden), stride: width },
      { at: backend.at(head), stride: width, offset: first * width, transposed: true },
      { at: { buffer: logits.buffer }, stride: count },
      { m: rows, n: count, k: width, alpha: 1 / temperature! },
    );
    backend.run({
      program: largest(false),
      buffers: [logits, values, names].map(({ buffer }) => ({ buffer })),
      numbers: { whole: [rows, count, k!, first, chunks * k!, chunk * k!] },
      groups: [rows],
    });
  }
  const [best, ids] = [backend.output([rows, k!]), backend.output([rows, k!], "int32")];
  backend.run({
    program: largest(true),
    buffers: [
      ...[values, names].map(({ buffer }) => ({ buffer })),
      ...[normaliser, best, ids].map((t) => backend.at(t)),
    ],
    numbers: { whole: [rows, chunks * k!, k!, 0, k!, 0] },
    groups: [rows],
  });
  for (const { release } of [logits, values, names]) release();
  for (const { dataId } of [labels, logprobs, entropies, normaliser]) backend.disposeData(dataId);
  return [best, ids];
};

/** Both ends of a model, where ids meet vectors. */
export const gpuVocabularyKernels: Readonly<Record<string, GpuKernel>> = {
  ArpoEmbed: embedKernel,
  ArpoEmbedGrad: embedGradKernel,
  ArpoLogProbEntropy: logProbEntropy,
  ArpoLogProbEntropyGrad: logProbEntropyGrad,
  ArpoTopK: topK,
};
