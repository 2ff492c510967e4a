import { makeDecoder, Model, type ModelConfig, type StepSampling } from "../../src/model/index.js";
import { type BackendName, switchBackend } from "../../src/tensor/backends.js";
import { AdamW, gradientsOf, tf } from "../../src/tensor/index.js";

/** Milliseconds of each task. */
export interface ModelTimes {
  train: number;
  prompt: number;
  decode1: number;
  decode8: number;
  decode64: number;
}

async function shortest(run: () => Promise<unknown>): Promise<number> {
  await run();
  let best = Infinity;
  const until = performance.now() + 2000;
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

async function trainTime(model: Model, rows: number, time: number): Promise<number> {
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
  });
  optimizer.dispose();
  tf.dispose([batch.ids, batch.lengths]);
  return best;
}

/** Times a model's tasks on a backend, from random weights, and leaves nothing there. */
export async function timesOn(
  backend: BackendName,
  config: ModelConfig,
  rows: number,
  time: number,
): Promise<ModelTimes> {
  await switchBackend(backend);
  const model = await Model.build(config, (_name, shape) => {
    const values = new Float32Array(shape.reduce((a, b) => a * b, 1));
    for (let i = 0; i < values.length; i++) values[i] = (((i * 7919) % 1009) / 1009 - 0.5) / 16;
    return Promise.resolve(values);
  });
  const decoder = makeDecoder(model);
  const open = Int32Array.from({ length: 64 }, () => decoder.open());
  const step = (count: number, fed: number) => {
    const list = open.subarray(0, count);
    for (const row of list) {
      if (decoder.length(row) + fed > config.contextLength || fed > 1) decoder.truncate(row, 0);
    }
    const offsets = Int32Array.from({ length: count + 1 }, (_, i) => i * fed);
    const tokens = Int32Array.from({ length: count * fed }, (_, i) => i % config.vocabSize);
    return Promise.resolve(decoder.step(list, tokens, offsets, sampling(count)));
  };
  const prompt = await shortest(() => step(rows, time));
  const decode1 = await shortest(() => step(1, 1));
  const decode8 = await shortest(() => step(8, 1));
  const decode64 = await shortest(() => step(64, 1));
  decoder.dispose();
  const train = await trainTime(model, rows, time);
  model.dispose();
  return { train, prompt, decode1, decode8, decode64 };
}
