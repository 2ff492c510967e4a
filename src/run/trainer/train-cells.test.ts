import assert from "node:assert/strict";
import { test } from "node:test";
import { fineTune } from "../../learn/sft/fine-tune.js";
import { addLora } from "../../model/lora/add-lora.js";
import { packagePath } from "#platform/modules";
import { tf } from "../../tensor/tf.js";
import { tasks } from "../../tasks/tasks/index.js";
import { HfTokenizer } from "../../model/tokenizer/hf-tokenizer.js";
import { Model } from "../../model/transformer/transformer.js";
import { Policy } from "../../policy/policies.js";
import { groupReward } from "../../reward/reward-function.js";
import { ToolSet } from "../../tools/tool-set.js";
import { tinyTokenizer } from "../tiny/tiny-tokenizer.js";
import { trainOn } from "./train-cells.js";

const tokenizer = new HfTokenizer(tinyTokenizer());
const sizes = { hiddenSize: 16, intermediateSize: 32, layers: 1, heads: 2, kvHeads: 1 };
const options = { steps: 1, prompts: 1, n: 4, miniBatch: 1, live: false, tools: new ToolSet() };

const smallPolicy = () =>
  Policy.fromModel(Model.init({ ...sizes, vocabSize: tokenizer.vocabSize }, 1), tokenizer);

/** How the trajectories of a step's first tree came to be. */
async function kindsOf(preset: "grpo" | "arpo"): Promise<string[]> {
  const policy = smallPolicy();
  const run = await trainOn(policy, tasks.calc({ train: 1, test: 1 }), { ...options, preset });
  policy.dispose();
  return run.steps[0]!.trees[0]!.trajectories.map(({ kind }) => kind);
}

test("trainOn() starts all trajectories at once where nothing branches, half of them in a tree", async () => {
  assert.deepEqual(await kindsOf("grpo"), ["initial", "initial", "initial", "initial"]);
  assert.deepEqual((await kindsOf("arpo")).slice(0, 3), ["initial", "initial", "refill"]);
});

test("trainOn() takes no more prompts a step than there are tasks, unless told otherwise", async () => {
  const policy = smallPolicy();
  const set = tasks.calc({ train: 3, test: 1 });
  const more = { steps: 1, n: 2, live: false, tools: new ToolSet() };
  const run = await trainOn(policy, set, more);
  assert.equal(run.steps[0]!.trees.length, 3);
  await assert.rejects(
    trainOn(policy, set, { ...more, prompts: 4 }),
    /\(in a cell: prompts\) must be at most the number of training tasks, 3, got 4/,
  );
  policy.dispose();
});

test("trainOn() trains with a reward over a whole group", async () => {
  const policy = smallPolicy();
  const seen: number[] = [];
  const ranked = groupReward((sequences) => {
    seen.push(sequences.length);
    return sequences.map((_, i) => i);
  });
  const run = await trainOn(policy, tasks.calc({ train: 1, test: 1 }), {
    ...options,
    preset: "grpo",
    reward: ranked,
  });
  policy.dispose();
  assert.ok(seen.includes(4));
  assert.equal(run.steps[0]!.metrics["critic/score/mean"], 1.5);
});

test("trainOn() refuses a reward that is neither a function nor over a group", async () => {
  const policy = smallPolicy();
  await assert.rejects(
    trainOn(policy, tasks.calc({ train: 1, test: 1 }), { ...options, reward: {} as never }),
    /reward must be a function or a groupReward, got/,
  );
  policy.dispose();
});

test("trainOn() and fineTune() leave no tensor behind, beside a reference and adapters too", async () => {
  const policy = smallPolicy();
  const set = tasks.calc({ train: 1, test: 1 });
  const adapted = smallPolicy();
  addLora(adapted.model, { rank: 2, alpha: 4 });
  const tensors: number[] = [];
  for (let round = 0; round < 2; round++) {
    for (const one of [policy, adapted]) {
      await trainOn(one, set, { ...options, overrides: ["algorithm.use_kl_in_reward=true"] });
      await trainOn(one, set, { ...options, klLossCoefficient: 0.1 });
      await fineTune(one, [{ prompt: "3+4?", completion: "7" }], { steps: 1, live: false });
    }
    tensors.push(tf.memory().numTensors);
  }
  assert.equal(tensors[1], tensors[0]);
  policy.dispose();
  adapted.dispose();
});

test("trainOn() takes a KL penalty off the rewards of answers of several lengths", async () => {
  const policy = await Policy.load(packagePath("data/models/tiny"));
  const { steps } = await trainOn(policy, tasks.lookup({ train: 2, test: 1 }), {
    ...{ steps: 2, prompts: 2, n: 4, live: false, learningRate: 0.001, preset: "grpo" },
    reward: ({ length = 0 }) => length,
    overrides: ["algorithm.use_kl_in_reward=true"],
  });
  const lengths = steps[0]!.trees.flatMap(({ selected }) =>
    selected.map(({ tokens }) => tokens.length),
  );
  assert.ok(new Set(lengths).size > 1, String(lengths));
  const [first, second] = steps.map(({ metrics }) => metrics["actor/reward_kl_penalty"]!);
  assert.ok(Math.abs(first!) < 1e-4 && Math.abs(second!) > 1e-4, `${first} ${second}`);
  policy.dispose();
});

test("trainOn() takes the length of answers, and any key of a configuration", async () => {
  const policy = smallPolicy();
  const run = await trainOn(policy, tasks.calc({ train: 1, test: 1 }), {
    ...options,
    responseLength: 5,
    overrides: ["lab.share_prefixes=true", "actor_rollout_ref.rollout.tools.call_limit=7"],
  });
  const { data, lab, actor_rollout_ref: actor } = run.trainer.parts.config;
  assert.deepEqual(
    [data.max_response_length, lab.share_prefixes, actor.rollout.tools.call_limit],
    [5, true, 7],
  );
  const { selected: trajectories } = run.steps[0]!.trees[0]!;
  assert.ok(trajectories.every(({ tokens }) => tokens.length <= 5));
  const wrong = trainOn(policy, tasks.calc({ train: 1 }), { ...options, overrides: ["lab.sed=2"] });
  await assert.rejects(wrong, /lab\.sed.*lab\.seed/);
  policy.dispose();
});

test("trainOn() refuses an option that only other losses read, by the loss that its keys choose", async () => {
  const policy = smallPolicy();
  const set = tasks.calc({ train: 1, test: 1 });
  const given = { ...options, preset: "grpo", gppoLow: 1 } as const;
  await assert.rejects(
    trainOn(policy, set, given),
    /Cannot train: gppoLow must be left out beside the loss vanilla, .*\(ce_gppo\), got 1$/,
  );
  const overrides = ["actor_rollout_ref.actor.policy_loss.loss_mode=ce_gppo"];
  const { steps } = await trainOn(policy, set, { ...given, overrides });
  assert.equal(steps.length, 1);
  policy.dispose();
});

test("trainOn() takes tasks written by hand, and says how a prompt is written", async () => {
  const policy = smallPolicy();
  const asked = (content: string) => ({ prompt: [{ role: "user", content }], groundTruth: "7" });
  const own = { train: [asked("3+4?"), asked("5+2?")], test: [asked("6+1?")] };
  const run = await trainOn(policy, own, { ...options, preset: "grpo", testEvery: 1 });
  assert.ok(["0", "1"].includes(run.steps[0]!.trees[0]!.task.id));
  assert.equal(run.validation.length, 2);
  await assert.rejects(
    trainOn(policy, [{ prompt: 34 as never, groundTruth: "7" }], options),
    /Cannot train: the prompt of task 0 must be text or a list of messages, \[\{ role: "user", content: … \}\], got 34/,
  );
  policy.dispose();
});

test("trainOn() trains a large model at 1e-5 unless told otherwise", async () => {
  const rateOf = async (vocabSize: number, more: { learningRate?: number } = {}) => {
    const small = { hiddenSize: 16, intermediateSize: 16, layers: 1, heads: 2, kvHeads: 1 };
    const policy = Policy.fromModel(Model.init({ ...small, vocabSize }, 1), tokenizer);
    if (vocabSize > tokenizer.vocabSize) {
      // The size alone is asked for; a real one would take a gigabyte.
      Object.defineProperty([...policy.model.weights.values()][0], "size", { value: 60e6 });
    }
    const own = { ...options, ...more, responseLength: 4, preset: "grpo" as const };
    const run = await trainOn(policy, tasks.calc({ train: 1, test: 1 }), own);
    policy.dispose();
    return run.steps[0]!.metrics["actor/lr"];
  };
  assert.equal(await rateOf(tokenizer.vocabSize + 1), 1e-5);
  assert.equal(await rateOf(tokenizer.vocabSize + 1, { learningRate: 1e-6 }), 1e-6);
  assert.notEqual(await rateOf(tokenizer.vocabSize), 1e-5);
});
