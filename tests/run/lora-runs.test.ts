// Runs with adapters, reinforcement learning and fine-tuning: what is trained, written and continued from.
import assert from "node:assert/strict";
import { cp, mkdtemp, readFile, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import type { Model } from "../../src/model/transformer/transformer.js";
import { loadAdapter } from "../../src/model/lora/load-adapter.js";
import { loadModel } from "../../src/model/load/load-model.js";
import { loadConfig } from "../../src/run/config/load.js";
import { loadSftConfig } from "../../src/run/sft/sft-config.js";
import { SftRun } from "../../src/run/sft/sft-run.js";
import { assemble } from "../../src/run/trainer/assemble.js";
import { train } from "../../src/run/trainer/train.js";
import type { TrainerStep } from "../../src/run/trainer/trainer.js";

const home = await mkdtemp(join(tmpdir(), "arpo-lab-lora-"));
after(() => rm(home, { recursive: true }));
const tiny = "data/models/tiny";

const values = (model: Model) =>
  [...model.weights.values()].map((weight) => Float32Array.from(weight.dataSync()));

const adapterBytes = (folder: string) => readFile(join(folder, "adapter_model.safetensors"));

async function learn(folder: string, stopAfter?: number) {
  const { config } = await loadConfig({
    preset: ["arpo", "tiny"],
    overrides: [
      "data.train_files=tasks:calc?train=6",
      "data.val_files=tasks:calc?test=1",
      "data.train_batch_size=2",
      "data.max_response_length=40",
      "actor_rollout_ref.rollout.n=4",
      "actor_rollout_ref.rollout.initial_rollouts=4",
      "actor_rollout_ref.actor.ppo_mini_batch_size=2",
      "actor_rollout_ref.actor.optim.lr=1e-2",
      "actor_rollout_ref.actor.use_kl_loss=true",
      "actor_rollout_ref.actor.kl_loss_coef=0.1",
      "actor_rollout_ref.model.lora_rank=2",
      "actor_rollout_ref.model.lora_alpha=8",
      "actor_rollout_ref.model.target_modules=[q_proj,down_proj]",
      "actor_rollout_ref.rollout.tools.tool_instances.python.class_path=calculator",
      "trainer.total_training_steps=3",
      "trainer.save_freq=1",
      "trainer.test_freq=-1",
      "trainer.val_before_train=false",
    ],
  });
  const parts = await assemble(config);
  const steps: TrainerStep[] = [];
  // Something to learn from, whatever the answers are.
  const reward = ({ response }: { response: string }) => ([...response].reduce((h, c) => (31 * h + c.charCodeAt(0)) % 97, 7) % 5) / 4 + 0.1; // prettier-ignore
  const running = train(
    { ...parts, reward },
    {
      folder,
      onStep: (step) => {
        steps.push(step);
        if (step.step === stopAfter) throw new Error("pulled the plug");
      },
    },
  );
  if (stopAfter === undefined) await running;
  else await assert.rejects(running, /pulled the plug/);
  await parts.tools.dispose();
  return { ...parts, steps };
}

test("train() with lora_rank moves the adapters alone and resumes to the same bytes", async () => {
  const whole = join(home, "whole");
  const { policy, reference, steps } = await learn(whole);
  const base = await loadModel(tiny);
  assert.deepEqual(values(policy.model), values(base));
  assert.deepEqual(
    [policy.model.lora!.scale, policy.model.lora!.targetModules],
    [4, ["q_proj", "down_proj"]],
  );
  assert.equal(reference!.lora, undefined);
  assert.ok(steps[0]!.metrics["actor/grad_norm"]! > 0);
  assert.ok(steps[2]!.metrics["actor/kl_loss"]! > 0);
  const actor = join(whole, "global_step_3", "actor");
  assert.ok((await readdir(actor)).includes("model.safetensors"));

  // The folder is a model on its own: the base and what its adapters add.
  await loadAdapter(base, join(actor, "lora_adapter"));
  assert.ok([...base.lora!.weights].some(([name, w]) => /lora_B/.test(name) && w.abs().max().dataSync()[0]! > 1e-3)); // prettier-ignore
  const merged = await loadModel(actor);
  const apart = base.copy();
  assert.deepEqual(values(merged), values(apart));
  assert.notDeepEqual(values(merged), values(base));

  const cut = join(home, "cut");
  await learn(cut, 2);
  const { steps: rest } = await learn(cut);
  assert.ok(rest[0]!.step > 1);
  assert.deepEqual(
    await adapterBytes(join(cut, "global_step_3", "actor", "lora_adapter")),
    await adapterBytes(join(actor, "lora_adapter")),
  );
  for (const model of [base, merged, apart]) model.dispose();
});

async function tune(output: string, extra: string[] = [], stopAfter = Infinity) {
  const rows = Array.from({ length: 8 }, (_, i) => ({
    conversations: [
      { from: "human", value: `What is ${i} + ${i}?` },
      { from: "gpt", value: `<answer>\\boxed{${2 * i}}</answer>` },
    ],
  }));
  const info = { toy: { file_name: "toy.jsonl", formatting: "sharegpt" } };
  await writeFile(join(home, "dataset_info.json"), JSON.stringify(info));
  await writeFile(join(home, "toy.jsonl"), rows.map((row) => `${JSON.stringify(row)}\n`).join(""));
  const yaml = join(home, "sft.yaml");
  const keys = { model_name_or_path: tiny, dataset_dir: home, dataset: "toy", output_dir: output };
  const rest = { finetuning_type: "lora", lora_rank: 4, lora_target: "q_proj,v_proj" };
  await writeFile(yaml, JSON.stringify({ ...keys, ...rest }));
  const { config, kept } = await loadSftConfig(yaml, [
    "learning_rate=0.01",
    "per_device_train_batch_size=4",
    "max_steps=4",
    "num_train_epochs=10",
    "save_steps=2",
    ...extra,
  ]);
  assert.deepEqual(kept, []);
  const run = await SftRun.open(config);
  const losses: number[] = [];
  for await (const step of run) {
    losses.push(step.loss);
    if (step.step + 1 === stopAfter) break;
  }
  run.dispose();
  return { losses, before: run.before };
}

test("SftRun with finetuning_type lora trains adapters, resumes, and writes the merged model", async () => {
  const whole = join(home, "sft-whole");
  const { losses } = await tune(whole);
  assert.ok(losses[3]! < losses[0]!, losses.join(" "));
  assert.ok(!(await readdir(whole)).includes("model.safetensors"));
  const json = JSON.parse(await readFile(join(whole, "adapter_config.json"), "utf8")) as object;
  const expected = { r: 4, lora_alpha: 8, target_modules: ["q_proj", "v_proj"] };
  assert.deepEqual({ ...json, ...expected }, json);
  const cut = join(home, "sft-cut");
  await tune(cut, [], 3);
  const again = await tune(cut);
  assert.equal(again.before, 2);
  assert.deepEqual(await adapterBytes(cut), await adapterBytes(whole));
  const model = await loadModel(tiny);
  await loadAdapter(model, whole);
  const sum = model.copy();
  const merged = await loadModel(join(whole, "merged"));
  assert.deepEqual(values(merged), values(sum));
  for (const one of [model, sum, merged]) one.dispose();
  await assert.rejects(tune(join(home, "no"), ["lora_rank=0"]), /lora_rank/);
  await assert.rejects(
    tune(join(home, "no"), ["lora_target=w_proj"]),
    /among q_proj.*, got w_proj/,
  );
});

/** Flips one bit in the middle of a file. */
async function flip(path: string): Promise<void> {
  const bytes = await readFile(path);
  bytes[bytes.length >> 1]! ^= 1;
  await writeFile(path, bytes);
}

test("damaged adapters of a checkpoint are found by whoever loads them", async () => {
  const folder = join(home, "damaged");
  await learn(folder);
  const adapters = join(folder, "global_step_3", "actor", "lora_adapter");
  await flip(join(adapters, "adapter_model.safetensors"));
  const model = await loadModel(tiny);
  await assert.rejects(loadAdapter(model, adapters), /Cannot load an adapter: .*as it was saved/);
  await assert.rejects(learn(folder), /global_step_2: go on from it with trainer\.resume_mode/);
  model.dispose();
});

test("damaged files of a fine-tuning checkpoint are found, and the last whole one is named", async () => {
  const whole = join(home, "sealed");
  await tune(whole);
  const full = join(home, "sealed-full");
  await tune(full, ["finetuning_type=full"]);
  const cases: [string, string, string[]][] = [
    [whole, "adapter_model.safetensors", []],
    [whole, "adapter_config.json", []],
    [whole, "optimizer.safetensors", []],
    [whole, "trainer_state.json", []],
    [full, "model.safetensors", ["finetuning_type=full"]],
  ];
  for (const [from, file, extra] of cases) {
    const folder = join(home, "hurt");
    await cp(from, folder, { recursive: true });
    await flip(join(folder, "checkpoint-4", file));
    const wanted = `resume_from_checkpoint=${join(folder, "checkpoint-2")}`;
    const more = [...extra, "max_steps=5"];
    await assert.rejects(
      tune(folder, more),
      ({ message }: Error) =>
        message.includes(`${file} must be as it was saved`) && message.includes(wanted),
      file,
    );
    assert.equal((await tune(folder, [...more, wanted])).before, 2);
    if (file.endsWith("model.safetensors")) {
      await flip(join(from, "checkpoint-2", file));
      const model = await loadModel(tiny);
      const checkpoint = join(from, "checkpoint-2");
      const load = from === full ? loadModel(checkpoint) : loadAdapter(model, checkpoint);
      await assert.rejects(load, /as it was saved/);
      await flip(join(from, "checkpoint-2", file));
      model.dispose();
    }
    await rm(folder, { recursive: true });
  }
});
