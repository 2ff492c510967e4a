// What the benchmark page measures in a worker: training steps of a model, and what this browser can do at most.
import { modelConfig } from "../../../src/model/config.js";
import { ready } from "../../../src/tensor/backends.js";
import { compiledEngine } from "../../../src/tensor/engine/compiled-engine.js";
import { nameOf } from "../../../src/tensor/gpu/device.js";
import { webgpuDevice } from "../../../src/tensor/optional/webgpu.js";
import { measureMachine } from "../../../src/tensor/profile/machine.js";
import { tf } from "../../../src/tensor/tf.js";
import { engineSizes, type EngineSize } from "../parts/engine-sizes.js";
import { cardRates } from "../parts/gpu-rates.js";
import { trainLimit, trainWork } from "../parts/least-times.js";
import { trainStep } from "../parts/train-step.js";

export interface TrainingFigure {
  size: EngineSize;
  backend: string;
  /** The instruction set and the threads, or the card. */
  on: string;
  tokensPerSecond: number;
  /** Of the fastest step. */
  milliseconds: number;
  steps: number;
  /** The time that the limits allow at least, divided by the time of the fastest step. */
  share: number;
  limits: { gflops: number; gigabytesPerSecond: number };
}

async function limits(seconds: number) {
  if (tf.getBackend() !== "webgpu") {
    const machine = measureMachine({ seconds: Math.min(0.3, seconds) });
    const threads = compiledEngine()!.call.threads();
    return { ...machine, on: `${machine.isa}, ${threads} ${threads === 1 ? "thread" : "threads"}` };
  }
  const device = await webgpuDevice();
  const { name, software } = nameOf({ info: device.adapterInfo });
  if (software) {
    throw new Error(`Cannot measure WebGPU: the adapter must be a card, got ${name}`);
  }
  const { peak, bandwidth } = await cardRates(device, 2048);
  const most = { products: peak, integerProducts: peak, bfloat16Products: peak, bandwidth };
  return { ...most, isa: "webgpu", threads: 1, on: name };
}

/** Trains for at least so many seconds; the loss must fall. */
export async function* measureTraining(seconds: number): AsyncGenerator<TrainingFigure> {
  await ready();
  const { on, ...most } = await limits(seconds);
  for (const size of Object.keys(engineSizes) as EngineSize[]) {
    const { model: config, rows, time } = engineSizes[size];
    const { model, step } = await trainStep(size);
    const first = await step();
    let [last, best, steps] = [first, Infinity, 0];
    const end = performance.now() + 1000 * seconds;
    do {
      const began = performance.now();
      last = await step();
      best = Math.min(best, performance.now() - began);
      steps++;
    } while (performance.now() < end);
    model.dispose();
    if (!(last < first))
      throw new Error(`The loss must fall while training, went ${first} to ${last}`);
    yield {
      ...{ size, backend: tf.getBackend(), on, milliseconds: best, steps },
      tokensPerSecond: (1000 * rows * time) / best,
      share: (1000 * trainLimit(trainWork(modelConfig(config), rows, time), most)) / best,
      limits: { gflops: most.products / 1e9, gigabytesPerSecond: most.bandwidth / 1e9 },
    };
  }
}
