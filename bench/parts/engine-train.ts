// One process of `bench engine`: trains a model of the size named in argv on one batch, as the baseline
// does (forward, cross-entropy, backward, AdamW), and prints the time of each step and the memory.
import { Model } from "../../src/model/transformer/transformer.js";
import { AdamW } from "../../src/tensor/adamw.js";
import { gradientsOf } from "../../src/tensor/gradients.js";
import { ready } from "../../src/tensor/backends.js";
import { tf } from "../../src/tensor/tf.js";
import { engineSizes, type EngineSize } from "./engine-sizes.js";

const { model: config, rows, time, repetitions } = engineSizes[process.argv[2] as EngineSize];
const backend = await ready();
const model = Model.init(config, 0);
const optimizer = new AdamW(model.weights, { learningRate: 1e-3 });
const ids = Array.from({ length: rows }, (_, r) =>
  Array.from(
    { length: time + 1 },
    (_, t) => (r * 7919 + t * 104729 + t * t * 31) % config.vocabSize,
  ),
);
const batch = model.batch(ids.map((row) => row.slice(0, -1)));
const labels = tf.tensor2d(
  ids.map((row) => row.slice(1)),
  [rows, time],
  "int32",
);

async function step(): Promise<number> {
  const { value, gradients } = gradientsOf(
    () => model.logProbs({ ids: batch.ids }, labels).logprobs.mean().neg().asScalar(),
    model.weights,
  );
  await optimizer.step(gradients);
  model.changed();
  const [loss] = await value.data();
  tf.dispose([value, gradients]);
  return loss!;
}

const first = await step();
for (let i = 0; i < 2; i++) await step();
const times: number[] = [];
let last = first;
for (let i = 0; i < repetitions; i++) {
  const start = performance.now();
  last = await step();
  times.push(performance.now() - start);
}
if (!(last < first)) throw new Error(`The loss must fall while training, went ${first} to ${last}`);
const megabytes = process.resourceUsage().maxRSS / 1024;
process.stdout.write(`${JSON.stringify({ backend, times, megabytes })}\n`);
process.exit(0);
