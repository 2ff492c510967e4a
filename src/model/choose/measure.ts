import { AdamW } from "../../tensor/adamw.js";
import { type BackendName, decodeOn, switchBackend } from "../../tensor/backends.js";
import { gradientsOf } from "../../tensor/gradients.js";
import { tf } from "../../tensor/tf.js";
import { modelConfig, type ModelConfig } from "../config.js";
import type { StepSampling } from "../decoder/decoder.js";
import { makeDecoder } from "../decoder/make-decoder.js";
import { fetchWeights } from "../decoder/of-model.js";
import { Model } from "../transformer/transformer.js";
import type { DecoderType } from "../decoder/weights.js";
import type { Task, Timing } from "./fastest.js";

/** What is to be timed: which tasks, and how a decoder keeps its weights. */
export interface Work {
  tasks: readonly Task[];
  dtype: DecoderType;
}

/** Layers that are timed: each costs the same. */
const LAYERS = 2;
/** Words that are timed: a share of a larger vocabulary costs its share. */
const WORDS = 16_384;
const ROWS = 8;
const TOKENS = 64;
/** What timing one task may take, once it has run for the first time. */
const BUDGET_MS = 250;

/** The shape that is timed in place of a model's: no deeper and no wider at its ends than is needed. */
export function probeShape(config: ModelConfig): ModelConfig {
  const layers = Math.min(config.layers, LAYERS);
  const { windowed, rotated, linear } = config;
  return modelConfig({
    ...config,
    windowed: windowed?.slice(0, layers),
    rotated: rotated?.slice(0, layers),
    linear: linear && { ...linear, layers: linear.layers.slice(0, layers) },
    ...{ head: "logits", eosIds: [], bosId: undefined, padId: undefined },
    layers,
    vocabSize: Math.min(config.vocabSize, WORDS),
    contextLength: Math.max(TOKENS, Math.min(config.contextLength, 2 * TOKENS)),
  });
}

/** The shortest of the runs that the budget allows, after one that makes everything ready. */
async function shortest(run: () => Promise<void>): Promise<number> {
  await run();
  let best = Infinity;
  const until = performance.now() + BUDGET_MS;
  do {
    const began = performance.now();
    await run();
    best = Math.min(best, performance.now() - began);
  } while (performance.now() < until);
  return best;
}

/** Numbers that look like weights; how they are drawn changes no time. */
function build(config: ModelConfig): Promise<Model> {
  return Model.build(config, (_name, shape) => {
    const values = new Float32Array(shape.reduce((a, b) => a * b, 1));
    for (let i = 0; i < values.length; i++) values[i] = (((i * 7919) % 1009) / 1009 - 0.5) / 16;
    return Promise.resolve(values);
  });
}

async function timeTraining(model: Model): Promise<number> {
  const { vocabSize } = model.config;
  const row = Array.from({ length: TOKENS }, (_, i) => (i * 31) % vocabSize);
  const { ids, lengths } = model.batch(Array.from({ length: ROWS }, () => row));
  const optimizer = new AdamW(model.weights, { learningRate: 1e-4, maxNorm: 1 });
  const time = await shortest(async () => {
    const { value, gradients } = gradientsOf(
      () => model.logProbs({ ids, lengths }, ids).logprobs.mean().neg().asScalar(),
      model.weights,
    );
    await optimizer.step(gradients);
    await value.data();
    tf.dispose([value, gradients]);
  });
  optimizer.dispose();
  tf.dispose([ids, lengths]);
  return time;
}

async function timeDecoding(model: Model, dtype: DecoderType): Promise<number> {
  await fetchWeights(model);
  const decoder = makeDecoder(model, { dtype });
  const rows = Int32Array.from({ length: ROWS }, () => decoder.open());
  const sampling: StepSampling = {
    temperature: new Float32Array(ROWS).fill(1),
    topK: new Int32Array(ROWS),
    topP: new Float32Array(ROWS).fill(1),
    minP: new Float32Array(ROWS),
    repetitionPenalty: new Float32Array(ROWS).fill(1),
    uniform: new Float64Array(ROWS).fill(0.5),
    top: 0,
  };
  const fed = Int32Array.from(rows, (_, i) => i);
  const offsets = Int32Array.from({ length: ROWS + 1 }, (_, i) => i);
  const time = await shortest(async () => {
    if (decoder.length(rows[0]!) >= decoder.contextLength) {
      for (const row of rows) decoder.truncate(row, 0);
    }
    await decoder.step(rows, fed, offsets, sampling);
  });
  decoder.dispose();
  return time;
}

/** Times a step of training and one of decoding for models of this shape, and leaves nothing behind. */
export async function measure(
  backend: BackendName,
  config: ModelConfig,
  { tasks, dtype }: Work = { tasks: ["train", "decode"], dtype: "float32" },
): Promise<Pick<Timing, "train" | "decode">> {
  const before = tf.getBackend() as BackendName;
  try {
    await switchBackend(backend);
    decodeOn(backend);
    const model = await build(probeShape(config));
    try {
      return {
        ...(tasks.includes("train") ? { train: await timeTraining(model) } : {}),
        ...(tasks.includes("decode") ? { decode: await timeDecoding(model, dtype) } : {}),
      };
    } finally {
      model.dispose();
    }
  } finally {
    decodeOn(undefined);
    await switchBackend(before);
  }
}
