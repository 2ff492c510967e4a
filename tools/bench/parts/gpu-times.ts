import type { DecoderType } from "../../../src/model/decoder/weights.js";
import { makeDecoder } from "../../../src/model/decoder/make-decoder.js";
import { Model } from "../../../src/model/transformer/transformer.js";
import type { ModelConfig } from "../../../src/model/config.js";
import type { StepSampling } from "../../../src/model/decoder/decoder.js";
import { type BackendName, switchBackend } from "../../../src/tensor/backends.js";
import { AdamW } from "../../../src/tensor/adamw.js";
import { gradientsOf } from "../../../src/tensor/gradients.js";
import { tf } from "../../../src/tensor/tf.js";

/** Milliseconds of each task. */
export interface ModelTimes {
  train: number;
  prompt: number;
  decode1: number;
  decode8: number;
  decode64: number;
  decode8_bfloat16: number;
  decode8_int8: number;
}

async function shortest(run: () => Promise<unknown>, seconds: number): Promise<number> {
  await run();
  let best = Infinity;
  const until = performance.now() + 1000 * seconds;
  do {
    const began = performance.now();
    await run();
    best = Math.min(best, performance.now() - began);
  } while (performance.now() < until);
  return best;
}

function sampling(count: number): StepSampling {
  return {
    temperature: new Float32Array(count).fill(1),
    topK: new Int32Array(count),
    topP: new Float32Array(count).fill(1),
    minP: new Float32Array(count),
    repetitionPenalty: new Float32Array(count).fill(1),
    uniform: new Float64Array(count).fill(0.5),
    top: 0,
  };
}

async function trainTime(model: Model, { rows, time, seconds }: Measured): Promise<number> {
  const ids = Array.from({ length: rows }, (_, r) =>
    Array.from({ length: time }, (_, t) => (r * 7919 + t * 104729) % model.config.vocabSize),
  );
  const batch = model.batch(ids);
  const optimizer = new AdamW(model.weights, { learningRate: 1e-4, maxNorm: 1 });
  const best = await shortest(async () => {
    const { value, gradients } = gradientsOf(
      () => model.logProbs(batch, batch.ids).logprobs.mean().neg().asScalar(),
      model.weights,
    );
    await optimizer.step(gradients);
    await value.data();
    tf.dispose([value, gradients]);
  }, seconds);
  optimizer.dispose();
  tf.dispose([batch.ids, batch.lengths]);
  return best;
}

/** Steps of so many sequences that are fed so many tokens each. */
async function decodeTimes(
  model: Model,
  dtype: DecoderType,
  kinds: readonly (readonly [rows: number, fed: number])[],
  seconds: number,
): Promise<number[]> {
  const { vocabSize, contextLength } = model.config;
  const decoder = makeDecoder(model, { dtype });
  const open = Int32Array.from({ length: 64 }, () => decoder.open());
  const step = (count: number, fed: number) => {
    const list = open.subarray(0, count);
    for (const row of list) {
      if (decoder.length(row) + fed > contextLength || fed > 1) decoder.truncate(row, 0);
    }
    const offsets = Int32Array.from({ length: count + 1 }, (_, i) => i * fed);
    const tokens = Int32Array.from({ length: count * fed }, (_, i) => i % vocabSize);
    return Promise.resolve(decoder.step(list, tokens, offsets, sampling(count)));
  };
  const times: number[] = [];
  for (const [count, fed] of kinds) times.push(await shortest(() => step(count, fed), seconds));
  decoder.dispose();
  return times;
}

/** How a model is measured: sequences and tokens of each in training and prompts, and seconds for each task. */
export interface Measured {
  rows: number;
  time: number;
  seconds: number;
}

/** Times a model's tasks on a backend, from random weights, and leaves nothing there. */
export async function timesOn(
  backend: BackendName,
  config: ModelConfig,
  measured: Measured,
): Promise<ModelTimes> {
  await switchBackend(backend);
  const model = await Model.build(config, (_name, shape) => {
    const values = new Float32Array(shape.reduce((a, b) => a * b, 1));
    for (let i = 0; i < values.length; i++) values[i] = (((i * 7919) % 1009) / 1009 - 0.5) / 16;
    return Promise.resolve(values);
  });
  const { rows, time, seconds } = measured;
  const decode = (dtype: DecoderType, kinds: readonly (readonly [number, number])[]) =>
    decodeTimes(model, dtype, kinds, seconds);
  const [prompt] = await decode("float32", [[rows, time]]);
  const [decode1, decode8, decode64] = await decode("float32", [1, 8, 64].map((count) => [count, 1])); // prettier-ignore
  const [halves] = await decode("bfloat16", [[8, 1]]);
  const [bytes] = await decode("int8", [[8, 1]]);
  const train = await trainTime(model, measured);
  model.dispose();
  return {
    ...{ train, prompt: prompt!, decode1: decode1!, decode8: decode8!, decode64: decode64! },
    ...{ decode8_bfloat16: halves!, decode8_int8: bytes! },
  };
}
