// What learning costs: the parts of a training step on the tiny model; an update beside the bare train
// step of the engine benchmark; shared prefixes computed once; with `--session`, SFT, 40 steps of
// reinforcement learning and an evaluation from start to end.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { tasks } from "../../src/tasks/tasks/index.js";
import { world } from "../../src/tasks/tasks/world.js";
import { Learner } from "../../src/learn/update/learner.js";
import { SftTrainer } from "../../src/learn/sft/train.js";
import { exampleOf } from "../../src/learn/sft/encode.js";
import { type BatchSequence, TrainingBatch } from "../../src/learn/batch.js";
import { Model } from "../../src/model/transformer/transformer.js";
import type { ModelConfigInput } from "../../src/model/config.js";
import { Policy } from "../../src/policy/policies.js";
import { deepResearch } from "../../src/reward/rewards/deep-research.js";
import { Trainer } from "../../src/run/trainer/trainer.js";
import { worldDemonstrations } from "../../src/run/tiny/world-demonstrations.js";
import { loadConfig } from "../../src/run/config/load.js";
import { tinyRecipe } from "../../src/run/tiny/train-tiny.js";
import { train } from "../../src/run/trainer/train.js";
import { taskTools } from "../../src/tasks/task-tools.js";
import { AdamW } from "../../src/tensor/adamw.js";
import { gradientsOf } from "../../src/tensor/gradients.js";
import { ready } from "../../src/tensor/backends.js";
import { tf } from "../../src/tensor/tf.js";
import type { Figure } from "./figure.js";
import { beside } from "./parts/beside.js";
import { engineSizes } from "./parts/engine-sizes.js";

const tiny = fileURLToPath(new URL("../../../data/models/tiny", import.meta.url));

const configFor = async (overrides: string[]) =>
  (await loadConfig({ preset: ["arpo", "tiny"], overrides })).config;

/** The parts of a training step: 8 prompts x 16 trajectories of the shipped model. */
async function* stepFigures(backend: string): AsyncGenerator<Figure> {
  const steps = 5;
  const policy = await Policy.load(tiny);
  const tools = taskTools(world);
  const trainer = new Trainer({
    config: await configFor([]),
    policy,
    tools,
    reward: deepResearch,
    train: tasks.calc({ seed: 1 }).train,
    validation: [],
  });
  const sums = new Map<string, number>();
  for (let i = 0; i <= steps; i++) {
    const { timing } = await trainer.next();
    if (i === 0) continue; // tools start
    for (const [name, value] of Object.entries(timing))
      sums.set(name, (sums.get(name) ?? 0) + value);
  }
  const parts = {
    rollout: "gen",
    tools: "tool_calls",
    reward: "reward",
    log_probs: "old_log_prob",
    update: "update_actor",
    all: "step",
  };
  for (const [part, name] of Object.entries(parts)) {
    const value = (sums.get(`timing_s/${name}`) ?? 0) / steps;
    yield { name: `learn.step.${part}_s`, value, unit: "s", backend };
  }
  await tools.dispose();
  policy.dispose();
}

/** Trajectories of token ids as an update takes them; each is attended to its end. */
function rowsOf(list: readonly { prompt: number[]; tokens: number[] }[]): BatchSequence[] {
  return list.map(({ prompt, tokens }, row) => {
    const ones = new Uint8Array(tokens.length).fill(1);
    const floats = (value: number) => new Float32Array(tokens.length).fill(value);
    return {
      trajectory: {
        ...{ id: row, kind: "initial" as const, round: 0, parent: -1, from: -1, leaf: row },
        ...{ tree: 0, nodes: [row], end: "answer" as const, text: "", calls: 0, toolCalls: [] },
        prompt: Int32Array.from(prompt),
        tokens: Int32Array.from(tokens),
        ...{ written: ones, attention: ones, lossMask: ones },
        ...{ logprobs: floats(0), entropies: floats(0) },
      },
      group: "q",
      reward: row % 2,
      advantages: floats(row % 2 ? 1 : -1),
      returns: floats(0),
      oldLogprobs: floats(-7),
      entropies: floats(1),
    };
  });
}

const idOf = (r: number, t: number, size: number) => (r * 7919 + t * 104729 + t * t * 31) % size;

/** One optimiser step of PPO beside forward, cross-entropy, backward and AdamW on the same tokens. */
async function* updateFigure(backend: string): AsyncGenerator<Figure> {
  const { model: config, rows, time } = engineSizes.small;
  const ids = Array.from({ length: rows }, (_, r) =>
    Array.from({ length: time + 1 }, (_, t) => idOf(r, t, config.vocabSize)),
  );
  const bare = Model.init(config, 0);
  const optimizer = new AdamW(bare.weights, { learningRate: 1e-3 });
  const batch = bare.batch(ids.map((row) => row.slice(0, -1)));
  const labels = tf.tensor2d(
    ids.map((row) => row.slice(1)),
    [rows, time],
    "int32",
  );
  const step = async () => {
    const { value, gradients } = gradientsOf(
      () => bare.logProbs({ ids: batch.ids }, labels).logprobs.mean().neg().asScalar(),
      bare.weights,
    );
    await optimizer.step(gradients);
    bare.changed();
    await value.data();
    tf.dispose([value, gradients]);
  };
  const learner = new Learner(Model.init(config, 0), { learningRate: 1e-3 });
  const training = new TrainingBatch(
    rowsOf(ids.map((row) => ({ prompt: row.slice(0, 1), tokens: row.slice(1, time) }))),
    "grpo",
  );
  const update = () => learner.update(training);
  const [ours, theirs] = await beside(update, step, { runs: 12, warmUps: 2 });
  const figure = { name: "learn.update_small_ms", value: 1000 * ours, unit: "ms", backend };
  yield {
    ...figure,
    baseline: "bare train step",
    baselineValue: 1000 * theirs,
    ratio: ours / theirs,
  };
}

/** Updates with what rows share computed once, beside the same updates row by row. */
async function* sharingFigures(backend: string): AsyncGenerator<Figure> {
  const config: ModelConfigInput = engineSizes.small.model;
  const shapes = {
    // 16 trajectories from 8 of one prompt: halves that branched in the middle of their response.
    tree: { prompt: 32, shared: 32, own: 32, groups: 8 },
    // The same behind a long prompt, as the published runs have.
    long_prompt: { prompt: 256, shared: 32, own: 32, groups: 8 },
    // Nothing in common but a short prompt: what laying out costs.
    apart: { prompt: 8, shared: 0, own: 88, groups: 16 },
  };
  for (const [name, { prompt, shared, own, groups }] of Object.entries(shapes)) {
    const part = (seed: number, from: number, length: number) =>
      Array.from({ length }, (_, t) => idOf(seed, from + t, config.vocabSize));
    const list = Array.from({ length: 16 }, (_, r) => ({
      prompt: part(1, 0, prompt),
      tokens: [...part(100 + (r % groups), prompt, shared), ...part(200 + r, prompt + shared, own)],
    }));
    const batch = new TrainingBatch(rowsOf(list), "grpo");
    const learnerWith = (sharedPrefixes: boolean) =>
      new Learner(Model.init(config, 0), { learningRate: 1e-3, sharedPrefixes });
    const [once, apart] = [learnerWith(true), learnerWith(false)];
    const [ours, theirs] = await beside(
      () => once.update(batch),
      () => apart.update(batch),
      { runs: 8, warmUps: 2 },
    );
    const figure = { name: `learn.shared_${name}_ms`, value: 1000 * ours, unit: "ms", backend };
    yield { ...figure, baseline: "row by row", baselineValue: 1000 * theirs, ratio: ours / theirs };
  }
}

/** SFT on the recipe's second stage, 40 steps of RL on calc, evaluation: one figure each and the sum. */
async function* sessionFigures(backend: string): AsyncGenerator<Figure> {
  const folder = await mkdtemp(join(tmpdir(), "arpo-lab-bench-"));
  const policy = await Policy.load(tiny);
  const tools = taskTools(world);
  const seconds: Record<string, number> = {};
  const timed = async <T>(name: string, run: () => Promise<T>): Promise<T> => {
    const start = performance.now();
    const value = await run();
    seconds[name] = (performance.now() - start) / 1000;
    return value;
  };
  const stage = tinyRecipe.stages[1]!;
  await timed("sft", async () => {
    const shown = await worldDemonstrations(stage.demonstrations);
    const sft = new SftTrainer(
      policy.model,
      shown.map((one) => exampleOf(one, policy.tokenizer)),
      { batchSize: 16, epochs: 1, learningRate: 3e-4, schedule: "constant" },
    );
    for await (const step of sft) if (step.skipped) throw new Error("a step was skipped");
  });
  const set = tasks.calc({ seed: 1 });
  const trainer = await timed("rl", async () =>
    train(
      {
        config: await configFor(["trainer.val_before_train=false", "trainer.test_freq=-1"]),
        policy,
        tools,
        reward: deepResearch,
        train: set.train,
        validation: [],
      },
      { folder },
    ),
  );
  const { metrics } = await timed("evaluation", () =>
    new Trainer({ ...trainer.parts, validation: set.test }).validate(),
  );
  seconds["all"] = Object.values(seconds).reduce((a, b) => a + b);
  for (const [name, value] of Object.entries(seconds)) {
    yield { name: `learn.session.${name}_s`, value, unit: "s", backend };
  }
  const reward = metrics["val-core/calc/reward/mean@1"]!;
  yield { name: "learn.session.reward", value: reward, unit: "reward", backend };
  await tools.dispose();
  policy.dispose();
  await rm(folder, { recursive: true });
}

export async function* figures(args: readonly string[]): AsyncIterable<Figure> {
  const backend = await ready();
  if (args.includes("--session")) yield* sessionFigures(backend);
  else {
    yield* stepFigures(backend);
    yield* updateFigure(backend);
    yield* sharingFigures(backend);
  }
}
