// Run by gpu.slow.test.ts: every fused kernel and whole steps of training, on the compiled engine and
// then on a GPU in the same process. Prints how far apart they are, and what a step costs in dispatches.
import { addLora } from "../../src/model/lora/add-lora.js";
import { Model } from "../../src/model/transformer/transformer.js";
import type { ModelConfigInput } from "../../src/model/config.js";
import { ready, switchBackend } from "../../src/tensor/backends.js";
import type { GpuBackend } from "../../src/tensor/gpu/gpu-backend.js";
import { AdamW } from "../../src/tensor/adamw.js";
import { gradientsOf } from "../../src/tensor/gradients.js";
import { tf } from "../../src/tensor/tf.js";
import { topKFromHidden } from "../../src/tensor/ops/top-k-from-hidden.js";
import { webgpuDevice } from "../../src/tensor/optional/webgpu.js";
import { fuzzCases } from "./fuzz-cases.js";
import { checkProducts } from "./gpu-products.js";
import { type OpResult, opCases, runCase } from "./op-cases.js";

const base: ModelConfigInput = {
  ...{ vocabSize: 71, hiddenSize: 24, intermediateSize: 40, layers: 2, heads: 4, kvHeads: 2 },
  ...{ contextLength: 32, initializerRange: 0.2 },
};
interface Training {
  input: ModelConfigInput;
  /** The projections that have adapters, which alone are trained then. */
  lora?: string | readonly string[];
  steps: number;
}
const models: Record<string, Training> = {
  "qwen2, tied": { input: base, steps: 20 },
  "qwen3, untied": { input: { ...base, family: "qwen3", headDim: 8, tied: false }, steps: 3 },
  "llama, adapters": { input: { ...base, family: "llama" }, lora: "all-linear", steps: 20 },
  "qwen3, some adapters": {
    input: { ...base, family: "qwen3", headDim: 8 },
    lora: ["q_proj", "v_proj"],
    steps: 3,
  },
  "four layers": { input: { ...base, layers: 4 }, steps: 3 },
  "four layers, adapters": { input: { ...base, layers: 4 }, lora: "all-linear", steps: 3 },
};

/** What one step of training did on the GPU. */
export interface StepCost {
  dispatches: number;
  submits: number;
  buffers: number;
  bytesRead: number;
}

async function train({ input, lora, steps }: Training) {
  const model = Model.init(input, 7);
  if (lora) addLora(model, { rank: 4, alpha: 8, seed: 1, targetModules: lora });
  const weights = lora ? model.lora!.weights : model.weights;
  const optimizer = new AdamW(weights, { learningRate: 5e-3, maxNorm: 1 });
  const rows = [9, 4, 1].map((size, r) =>
    Array.from({ length: size }, (_, i) => (r * 13 + i * 29) % 71),
  );
  const { ids, lengths } = model.batch(rows);
  const labels = tf.tensor2d(
    Array.from({ length: 27 }, (_, i) => (i * 17) % 71),
    [3, 9],
    "int32",
  );
  const losses: number[] = [];
  const norms: number[] = [];
  let cost: StepCost | undefined;
  for (let step = 0; step < steps; step++) {
    const before = told();
    const { value, gradients } = gradientsOf(() => {
      const { logprobs, entropies } = model.logProbs({ ids, lengths }, labels);
      return logprobs.mean().neg().sub(entropies.mean().mul(0.01)).asScalar();
    }, weights);
    norms.push((await optimizer.step(gradients)).norm);
    losses.push((await value.data())[0]!);
    tf.dispose([value, gradients]);
    const after = told();
    cost = {
      dispatches: after.dispatches - before.dispatches,
      submits: after.submits - before.submits,
      buffers: after.buffers - before.buffers,
      bytesRead: after.bytesRead - before.bytesRead,
    };
  }
  const moved: number[][] = [];
  for (const weight of weights.values()) moved.push([...(await weight.data())]);
  const { moments } = await optimizer.state();
  for (const { m } of Object.values(moments)) moved.push([...m]);
  optimizer.dispose();
  model.dispose();
  tf.dispose([ids, lengths, labels]);
  return { losses, norms, moved, cost: cost! };
}

let buffers = 0;
function told(): StepCost {
  const backend = tf.backend() as unknown as Partial<GpuBackend>;
  const { dispatches = 0, submits = 0, bytesRead = 0 } = backend;
  return { dispatches, submits, buffers, bytesRead };
}

async function largest() {
  const hidden = tf.tensor2d(
    Array.from({ length: 3 * 5 }, (_, i) => Math.sin(i)),
    [3, 5],
  );
  // Some words are equal: of those the lower id comes first.
  const head = tf.tensor2d(
    Array.from({ length: 700 * 5 }, (_, i) => Math.cos((i % 1750) * 1.7)),
    [700, 5],
  );
  const { logprobs, ids } = topKFromHidden(hidden, head, 12, 0.8);
  const found = { logprobs: [...(await logprobs.data())], ids: [...(await ids.data())] };
  tf.dispose([hidden, head, logprobs, ids]);
  return found;
}

async function everything() {
  const ops: Record<string, OpResult> = {};
  for (const op of [...opCases, ...fuzzCases]) ops[op.name] = await runCase(op);
  const runs: Record<string, Awaited<ReturnType<typeof train>>> = {};
  for (const [name, training] of Object.entries(models)) runs[name] = await train(training);
  return { ops, runs, largest: await largest(), tensors: tf.memory().numTensors };
}

/** The largest difference, relative to 1 and the number that is right. */
function apart(actual: readonly number[], expected: readonly number[]): number {
  if (actual.length !== expected.length) return Infinity;
  let most = 0;
  for (const [i, right] of expected.entries()) {
    const difference = Math.abs(actual[i]! - right) / (1 + Math.abs(right));
    most = Math.max(most, Number.isNaN(difference) ? Infinity : difference);
  }
  return most;
}

await ready();
const right = await everything();
await switchBackend("webgpu");
const { device } = tf.backend() as unknown as GpuBackend;
const faults: string[] = [];
device.addEventListener("uncapturederror", ({ error }) => faults.push(error.message));
const create = device.createBuffer.bind(device);
device.createBuffer = (description) => {
  buffers++;
  return create(description);
};
const ours = await everything();

const ops = Object.fromEntries(
  Object.entries(right.ops).map(([name, { values, gradients }]) => {
    const own = ours.ops[name]!;
    const pairs = [
      ...values.map((value, i) => apart(own.values[i]!, value)),
      ...Object.entries(gradients).map(([of, slope]) => apart(own.gradients[of]!, slope)),
    ];
    return [name, Math.max(...pairs)];
  }),
);
const runs = Object.fromEntries(
  Object.entries(right.runs).map(([name, { losses, norms, moved }]) => {
    const own = ours.runs[name]!;
    const weights = Math.max(...moved.map((values, i) => apart(own.moved[i]!, values)));
    return [
      name,
      {
        losses: apart(own.losses, losses),
        norms: apart(own.norms, norms),
        weights,
        fell: losses[0]! - losses[losses.length - 1]!,
        cost: own.cost,
      },
    ];
  }),
);
const top = {
  ids: ours.largest.ids.join() === right.largest.ids.join(),
  logprobs: apart(ours.largest.logprobs, right.largest.logprobs),
};
const products = await checkProducts(await webgpuDevice());
const result = { ops, runs, top, faults, leaked: ours.tensors - right.tensors, products };
process.stdout.write(JSON.stringify(result), () => process.exit(0));
