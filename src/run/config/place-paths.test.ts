import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { homedir, tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { test, type TestContext } from "node:test";
import { loadSftConfig } from "../sft/sft-config.js";
import { loadConfig } from "./load.js";

async function folderWith(t: TestContext, yaml: string, ...names: string[]) {
  const folder = await mkdtemp(join(tmpdir(), "arpo-lab-paths-"));
  t.after(() => rm(folder, { recursive: true }));
  await writeFile(join(folder, "run.yaml"), yaml);
  for (const name of names) await writeFile(join(folder, name), "");
  return folder;
}

test("paths of a configuration lead from its folder, then from the working folder", async (t) => {
  const folder = await folderWith(
    t,
    `data: { train_files: [train.jsonl], val_files: package.json }
custom_reward_function: { path: ./reward.ts }
actor_rollout_ref:
  model: { path: data/models/tiny }
  rollout: { tools: { tool_instances: { x: { class_path: "./tool.mjs#make" } } } }
`,
    ...["train.jsonl", "reward.ts", "tool.mjs"],
  );
  const { config } = await loadConfig({ files: [join(folder, "run.yaml")] });
  assert.deepEqual(config.data.train_files, [join(folder, "train.jsonl")]);
  assert.equal(config.data.val_files, "package.json");
  assert.equal(config.custom_reward_function.path, join(folder, "reward.ts"));
  assert.equal(config.actor_rollout_ref.model.path, "data/models/tiny");
  const { x } = config.actor_rollout_ref.rollout.tools.tool_instances;
  assert.equal(x!.class_path, `${join(folder, "tool.mjs")}#make`);
  // What the command line says is seen from where it is written.
  const over = await loadConfig({
    files: [join(folder, "run.yaml")],
    overrides: ["data.train_files=train.jsonl"],
  });
  assert.equal(over.config.data.train_files, "train.jsonl");
});

test("a tool's corpus, folder and cache lead from the configuration's folder too", async (t) => {
  const folder = await folderWith(
    t,
    `actor_rollout_ref: { rollout: { tools: { tool_instances: {
  search: { class_path: search.offline, params: { corpus: pages.jsonl, cache_file: kept.jsonl } },
  more: { class_path: search.offline, params: { cache_file: new.jsonl } } } } } }
`,
    ...["pages.jsonl", "kept.jsonl"],
  );
  const { config } = await loadConfig({ files: [join(folder, "run.yaml")] });
  const { search, more } = config.actor_rollout_ref.rollout.tools.tool_instances;
  assert.deepEqual(search!.params, {
    corpus: join(folder, "pages.jsonl"),
    cache_file: join(folder, "kept.jsonl"),
  });
  assert.deepEqual(more!.params, { cache_file: "new.jsonl" });
});

test("the model and the data of an SFT file lead from its folder, then from the working folder", async (t) => {
  const folder = await folderWith(
    t,
    "model_name_or_path: m\ndataset_dir: data\ndataset: d\noutput_dir: o\n",
    "m",
  );
  const path = join(folder, "run.yaml");
  const { config } = await loadSftConfig(path);
  assert.equal(config.model_name_or_path, join(folder, "m"));
  assert.equal(config.dataset_dir, "data");
  assert.equal(config.output_dir, "o");
  const over = await loadSftConfig(path, ["model_name_or_path=data/models/tiny"]);
  assert.equal(over.config.model_name_or_path, "data/models/tiny");
  await rm(join(folder, "m"));
  await assert.rejects(loadSftConfig(path), (error: Error) => {
    assert.ok(error.message.includes(join(folder, "m")), error.message);
    assert.ok(error.message.includes(resolve("m")), error.message);
    return true;
  });
});

test("a path that leads nowhere is named from both folders", async (t) => {
  const folder = await folderWith(t, "data: { train_files: none.jsonl }\n");
  const found = loadConfig({ files: [join(folder, "run.yaml")] });
  await assert.rejects(found, (error: Error) => {
    assert.match(error.message, /data\.train_files: must be beside the configuration/);
    assert.ok(error.message.includes(join(folder, "none.jsonl")), error.message);
    assert.ok(error.message.includes(resolve("none.jsonl")), error.message);
    return true;
  });
});

test("~ is the home folder in every path of a configuration", async (t) => {
  const { config } = await loadConfig({
    overrides: [
      ...["data.train_files=[~/a.jsonl]", "actor_rollout_ref.model.path=~/m"],
      ...["trainer.default_local_dir=~/runs/x", "custom_reward_function.path=~/r.ts"],
      "++actor_rollout_ref.rollout.tools.tool_instances.x.class_path=~/tool.mjs",
      "++actor_rollout_ref.rollout.tools.tool_instances.x.params.corpus=~/pages.jsonl",
    ],
  });
  const home = homedir();
  assert.deepEqual(config.data.train_files, [`${home}/a.jsonl`]);
  assert.equal(config.actor_rollout_ref.model.path, `${home}/m`);
  assert.equal(config.critic.model.path, `${home}/m`);
  assert.equal(config.trainer.default_local_dir, `${home}/runs/x`);
  assert.equal(config.custom_reward_function.path, `${home}/r.ts`);
  const { x } = config.actor_rollout_ref.rollout.tools.tool_instances;
  assert.equal(x!.class_path, `${home}/tool.mjs`);
  assert.equal(x!.params["corpus"], `${home}/pages.jsonl`);

  const yaml = "model_name_or_path: ~/m\ndataset: d\ndataset_dir: ~/d\noutput_dir: ~/o\n";
  const folder = await folderWith(t, yaml);
  const sft = await loadSftConfig(join(folder, "run.yaml"));
  assert.equal(sft.config.model_name_or_path, `${home}/m`);
  assert.equal(sft.config.dataset_dir, `${home}/d`);
  assert.equal(sft.config.output_dir, `${home}/o`);
});
