import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { test, type TestContext } from "node:test";
import { parquetReadObjects } from "hyparquet";
import { parse } from "yaml";
import { parquetFile } from "../../tasks/read-rows.js";
import { trainBpe } from "../../model/tokenizer/train-bpe.js";
import { configKeys } from "../../run/config/keys.js";
import { loadConfig } from "../../run/config/load.js";
import { tasksOf } from "../../run/trainer/tasks-of.js";
import { exportVerl } from "./export-verl.js";
import { carriedAs } from "./key-table.js";
import { hydraValue, verlConfig } from "./overrides.js";
import { temporaryFolder } from "../../../tests/temporary.js";

async function place(t: TestContext): Promise<string> {
  const folder = temporaryFolder("arpo-lab-verl");
  t.after(() => rm(folder, { recursive: true }));
  return join(folder, "job");
}

const data = ["data.train_files=tasks:calc?train=3", "data.val_files=tasks:calc?test=1"];
const tools = { python: "calculator" };

test("every key of ours is mapped, carried, left with a reason or refused with one", () => {
  const ways = configKeys().map(({ path }) => Object.keys(carriedAs(path))[0]!);
  const count = (way: string) => ways.filter((one) => one === way).length;
  assert.equal(count("to") + count("loop") + count("left") + count("refused"), configKeys().length);
  assert.ok(count("to") > 150 && count("loop") === 11);
});

test("what verl cannot do is refused by name, all of it at once", async () => {
  const { config } = await loadConfig({
    preset: "aepo",
    overrides: [
      "lab.branch_rule=aepo-paper",
      "algorithm.adv_estimator=treerl",
      "algorithm.filter_groups.enable=true",
      "actor_rollout_ref.actor.policy_loss.loss_mode=gspo",
    ],
  });
  assert.throws(
    () => verlConfig(config),
    (error: Error) => {
      for (const name of ["lab.branch_rule=aepo-paper", "treerl", "filter_groups.enable", "gspo"])
        assert.ok(error.message.includes(name), `${name}: ${error.message}`);
      return true;
    },
  );
});

test("a job folder holds what verl reads: keys that moved under their new names", async (t) => {
  const folder = await place(t);
  const overrides = [
    ...data,
    "actor_rollout_ref.rollout.n=12",
    "actor_rollout_ref.actor.enable_entropy_balanced_clipping=true",
    "actor_rollout_ref.actor.checkpoint.contents=[model,optimizer]",
    "actor_rollout_ref.rollout.load_format=dummy_megatron",
    "actor_rollout_ref.rollout.multi_turn.max_turns=5",
    "ray_init.num_cpus=16",
    "actor_rollout_ref.actor.grad_clip=0.5",
  ];
  const job = await exportVerl({ preset: "arpo", overrides }, folder, { tools });
  const said = new Map(
    job.overrides.map((one) => [one.split("=")[0]!, one.slice(one.indexOf("=") + 1)]),
  );
  assert.equal(said.get("actor_rollout_ref.rollout.n"), "12");
  // verl has no such section: a key of it ends the job.
  assert.deepEqual(
    [...said.keys()].filter((key) => key.includes(".rollout.tools.")),
    [],
  );
  assert.equal(said.get("actor_rollout_ref.actor.policy_loss.loss_mode"), "aepo_clipping");
  assert.equal(said.get("actor_rollout_ref.actor.checkpoint.save_contents"), "[model,optimizer]");
  assert.equal(said.get("actor_rollout_ref.rollout.load_format"), "dummy");
  assert.equal(said.get("actor_rollout_ref.rollout.multi_turn.max_assistant_turns"), "5");
  assert.equal(said.get("ray_kwargs.ray_init.num_cpus"), "16");
  assert.equal(said.get("actor_rollout_ref.actor.optim.clip_grad"), "0.5");
  // Keys that verl takes and never reads.
  for (const key of [
    ...["custom_reward_function.path", "reward_model.reward_manager"],
    "actor_rollout_ref.actor.grad_clip",
  ]) {
    assert.ok(!said.has(key), key);
  }
  assert.equal(said.get("reward.custom_reward_function.path"), "@JOB@/arpo_verl/reward.py");
  const [loop, answers] = parse(await readFile(join(folder, "agent_loop.yaml"), "utf8")) as Record<
    string,
    unknown
  >[];
  const { config } = await loadConfig({ preset: "arpo", overrides });
  const { rollout } = config.actor_rollout_ref;
  const shared = {
    _target_: "arpo_verl.loop.ArpoTreeLoop",
    initial_rollouts: rollout.initial_rollouts,
    beam_size: rollout.beam_size,
    branch_probability: rollout.branch_probability,
    entropy_weight: rollout.entropy_weight,
    ...{ rule: "arpo-code", dynamic: false, root_tokens: 50 },
    call_limit: rollout.tools.call_limit,
    timeout: rollout.tools.timeout,
    attempts: rollout.tools.retry_count,
    seed: config.lab.seed,
    call_tools: tools,
  };
  const trees = "${oc.env:ARPO_LAB_JOB}/results/trees";
  assert.deepEqual(loop, { name: "arpo_tree", ...shared, trees });
  // Validation does not branch.
  assert.deepEqual(answers, { name: "arpo_answers", ...shared, validates: true });
  const rows = async (name: string) =>
    parquetReadObjects({ file: await parquetFile(join(folder, name)) });
  const [answer, ...none] = await rows("val.parquet");
  assert.deepEqual([answer!["agent_name"], none], ["arpo_answers", []]);
  const train = await rows("train.parquet");
  const tasks = await tasksOf(config.data.train_files, "train", config);
  assert.deepEqual(
    train,
    tasks.map(({ prompt, groundTruth, dataSource, id, extra }, index) => ({
      ...{ data_source: dataSource, prompt: prompt.map((message) => ({ ...message })) },
      reward_model: { style: "rule", ground_truth: groundTruth },
      extra_info: { index: BigInt(index), id, extra: JSON.stringify(extra) },
      agent_name: "arpo_tree",
    })),
  );
  assert.ok((await stat(join(folder, "run.sh"))).mode & 0o100);
  assert.ok((await stat(join(folder, "arpo_verl/loop.py"))).isFile());
});

test("tasks that are judged by a rule of their own here are not exported to another", async (t) => {
  const folder = await place(t);
  const file = `${folder}.jsonl`;
  const task = { question: "1+1?", answer: "so #### 2", data_source: "openai/gsm8k" };
  await writeFile(file, `${JSON.stringify(task)}\n`);
  const files = [`data.train_files=${file}`, `data.val_files=${file}`];
  const out = (overrides: string[]) =>
    exportVerl({ preset: "arpo", overrides: [...files, ...overrides] }, folder, {
      tools: { python: "calculator", search: "calculator" },
    });
  await assert.rejects(
    out([]),
    /custom_reward_function.path must be named for tasks of openai\/gsm8k/,
  );
  const { overrides } = await out(["custom_reward_function.path=deep_research.py"]);
  assert.ok(overrides.some((line) => line.endsWith("arpo_verl/reward.py")));
});

test("AEPO's rule and its look ahead go to the loop, its loss to verl's actor", async (t) => {
  const folder = await place(t);
  const overrides = [
    ...data,
    "actor_rollout_ref.rollout.enable_dynamic_rollouts=true",
    "actor_rollout_ref.rollout.initial_entropy_tokens=32",
  ];
  const job = await exportVerl({ preset: "aepo", overrides }, folder, { tools });
  const [loop] = parse(await readFile(join(folder, "agent_loop.yaml"), "utf8")) as [object];
  const { rule, dynamic, root_tokens: tokens } = loop as Record<string, unknown>;
  assert.deepEqual([rule, dynamic, tokens], ["aepo-code", true, 32]);
  // Its loss weighs advantages by entropies, which verl must compute then.
  for (const one of ["policy_loss.loss_mode=aepo", "calculate_entropy=true"])
    assert.ok(job.overrides.includes(`actor_rollout_ref.actor.${one}`), one);
});

test("run.sh hands verl every override, with its folder, and a person's own last", async (t) => {
  const folder = await place(t);
  const job = await exportVerl({ preset: "arpo", overrides: data }, folder, {
    tools: { ...tools, search: "a:b" },
  });
  const bin = `${folder}-bin`;
  await mkdir(bin);
  const fake =
    '#!/bin/sh\nprintf "%s\\n" "$VERL_USE_EXTERNAL_MODULES" "$PYTHONPATH" "$VERL_FILE_LOGGER_PATH" "$@"\n';
  await writeFile(join(bin, "python3"), fake, { mode: 0o755 });
  const env = { PATH: `${bin}:${process.env.PATH ?? ""}` };
  const args = [join(folder, "run.sh"), "trainer.nnodes=2"];
  const { stdout, stderr } = spawnSync("sh", args, { env, encoding: "utf8" });
  const [modules, path, log, ...said] = stdout.trimEnd().split("\n");
  assert.deepEqual([modules, path], ["arpo_verl", folder], stderr);
  assert.deepEqual(said.slice(0, 2), ["-m", "verl.trainer.main_ppo"]);
  assert.equal(said.at(-1), "trainer.nnodes=2");
  // Other nodes are given what this shell has.
  const there = `ARPO_LAB_JOB:'${folder}',PYTHONPATH:'${folder}',VERL_USE_EXTERNAL_MODULES:'arpo_verl',VERL_FILE_LOGGER_PATH:'${log}'`;
  assert.equal(said.at(-2), `++ray_kwargs.ray_init.runtime_env.env_vars={${there}}`);
  const wanted = job.overrides.map((one) => one.replace("@JOB@", folder));
  assert.deepEqual(said.slice(2, -2).sort(), wanted.sort());
});

test("run.sh writes a folder with quotes in its name as Hydra reads it", async (t) => {
  const folder = join(await place(t), "o'neil \\'s");
  await exportVerl({ preset: "arpo", overrides: data }, folder, {
    tools: { ...tools, search: "a:b" },
  });
  const bin = `${folder}-bin`;
  await mkdir(bin);
  await writeFile(join(bin, "python3"), '#!/bin/sh\nprintf "%s\\n" "$@"\n', { mode: 0o755 });
  const env = { PATH: `${bin}:${process.env.PATH ?? ""}` };
  const { stdout, stderr } = spawnSync("sh", [join(folder, "run.sh")], { env, encoding: "utf8" });
  const written = join(dirname(folder), "o\\'neil \\\\\\'s");
  const said = stdout.trimEnd().split("\n");
  assert.ok(said.includes(`data.train_files='${written}/train.parquet'`), stdout + stderr);
  assert.ok(
    said.at(-1)!.includes(`ARPO_LAB_JOB:'${written}',PYTHONPATH:'${written}'`),
    said.at(-1),
  );
});

test("tools and rewards in Python are taken along", async (t) => {
  const folder = await place(t);
  const preset = ["arpo", "7b"] as const;
  await assert.rejects(
    exportVerl({ preset, overrides: data }, folder, { tools: { python: "x.py" } }),
    /module:function, got x\.py/,
  );
  await writeFile(`${folder}.py`, "def compute_score(*a, **k): return 1.0\n");
  const job = await exportVerl({ preset, overrides: data }, folder, {
    tools: { python: "mine:run", search: "mine:search" },
    reward: `${folder}.py`,
  });
  assert.ok(job.overrides.includes("reward.custom_reward_function.path=@JOB@/reward.py"));
});

test("values are written as hydra reads them", () => {
  const values: [unknown, string][] = [
    [null, "null"],
    [true, "true"],
    [1e-6, "0.000001"],
    ["Qwen/Qwen2.5-7B", "Qwen/Qwen2.5-7B"],
    ["a b", "'a b'"],
    ["null", "'null'"],
    ["it's", "'it\\'s'"],
    [["console", "wandb"], "[console,wandb]"],
    [{ a: { b: 1 } }, "{a:{b:1}}"],
    [{}, "{}"],
  ];
  for (const [value, text] of values) assert.equal(hydraValue(value), text);
});

test("a model whose tokens would be others in transformers 5 is refused", async (t) => {
  const folder = await place(t);
  const model = `${folder}-model`;
  await mkdir(model);
  const files = trainBpe(["12 34 12 34"], { vocabSize: 300, maxDigits: 2 });
  const write = (name: string, value: unknown) =>
    writeFile(join(model, name), JSON.stringify(value));
  await write("tokenizer.json", files.tokenizer);
  await write("tokenizer_config.json", files.config);
  const at = (type: string) => write("config.json", { model_type: type });
  const overrides = [...data, `actor_rollout_ref.model.path=${model}`];
  await at("qwen2");
  await assert.rejects(
    exportVerl({ preset: "arpo", overrides }, folder, { tools }),
    /the model's tokens must be the same there, got \[.*\] for " 12\+3.*splits a model of type qwen2/,
  );
  // Of other types the file is what is read.
  await at("llama");
  await exportVerl({ preset: "arpo", overrides }, folder, { tools });
});

test("settings in verl's own names take the place of ours; names it would not read are refused", async () => {
  const folder = join(temporaryFolder("arpo-lab-verl"), "job");
  const experiment = { preset: "arpo" as const, overrides: data };
  const settings = [
    "++actor_rollout_ref.rollout.gpu_memory_utilization=0.5",
    "+ray_kwargs.ray_init.num_gpus=1",
    "trainer.nnodes=3",
    "~algorithm.kl_ctrl",
  ];
  const { overrides } = await exportVerl(experiment, folder, { tools, settings });
  assert.deepEqual(overrides.slice(-4), settings);
  assert.deepEqual(
    overrides.filter((one) => /trainer\.nnodes|gpu_memory/.test(one)),
    [settings[0], settings[2]],
  );
  const written = await readFile(join(folder, "overrides.txt"), "utf8");
  assert.equal(written, `${overrides.join("\n")}\n`);
  for (const [setting, said] of [
    [
      "actor_rollout_ref.actor.grad_clip=1",
      /where this is actor_rollout_ref.actor.optim.clip_grad/,
    ],
    ["lab.seed=3", /belongs to the configuration, got "lab.seed=3"/],
    ["trainer.nnodes", /key=value, \+\+key=value or ~key/],
    ["a=1\nb=2", /on one line/],
    [7, /must be a list of texts, got 7 in it/],
  ] as const) {
    const refused = exportVerl(experiment, `${folder}-2`, { tools, settings: [setting as string] });
    await assert.rejects(refused, said);
  }
});
