import assert from "node:assert/strict";
import { watch } from "node:fs";
import { cp, mkdir, mkdtemp, readFile, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { Random } from "../../../src/base/random/random.js";
import { sharedData } from "../../../tests/shared-data.js";
import { fingerprint, runToEnd, start } from "../../../tests/cli/training-run.js";

const model = fileURLToPath(new URL("../../../../data/models/tiny", import.meta.url));
const published = sharedData("config/qwen_sft.yaml");

/** The published file's keys, with a folder and a data set of our own. */
const yaml = (output: string) => `### model
model_name_or_path: ${model}
trust_remote_code: true
stage: sft
do_train: true
finetuning_type: full
deepspeed: ../examples/deepspeed/ds_z3_offload_config.json
dataset_dir: dataset_info
dataset: toy
template: qwen
cutoff_len: 200
overwrite_cache: true
preprocessing_num_workers: 16
output_dir: ${output}
logging_steps: 4
save_steps: 5
save_total_limit: 2
plot_loss: true
per_device_train_batch_size: 2
gradient_accumulation_steps: 2
learning_rate: 1.0e-3
num_train_epochs: 2.5
lr_scheduler_type: cosine
warmup_ratio: 0.1
bf16: true
ddp_timeout: 180000000
val_size: 0.1
eval_strategy: steps
eval_steps: 6
`;

async function project(): Promise<{ home: string; file: (output: string) => Promise<string> }> {
  const home = await mkdtemp(join(tmpdir(), "arpo-lab-sft-cli-"));
  const info = { toy: { file_name: "toy.jsonl", formatting: "sharegpt" } };
  await mkdir(join(home, "dataset_info"));
  await writeFile(join(home, "dataset_info/dataset_info.json"), JSON.stringify(info));
  const rows = Array.from({ length: 40 }, (_, i) => ({
    conversations: [
      { from: "human", value: `What is ${i} + ${i}?` },
      {
        from: "gpt",
        value: `<think>I compute ${i}+${i}.</think><python>${i}+${i}</python> <result>\n${2 * i}\n</result><answer>\\boxed{${2 * i}}</answer>`,
      },
    ],
  }));
  await writeFile(
    join(home, "dataset_info/toy.jsonl"),
    rows.map((row) => `${JSON.stringify(row)}\n`).join(""),
  );
  return {
    home,
    file: async (output) => {
      const path = join(home, `${output}.yaml`);
      await writeFile(path, yaml(join(home, output)));
      return path;
    },
  };
}

/** Waits until so many more changes were made to the names and files of a folder, or for the end. */
async function changes(folder: string, count: number, ended: Promise<unknown>): Promise<void> {
  let made = 0;
  await new Promise<void>((done) => {
    const see = () => {
      if (made++ < count) return;
      watcher.close();
      done();
    };
    const watcher = watch(folder, see);
    void ended.then(() => (watcher.close(), done()));
    see();
  });
}

test("sft killed at moments all along and run again ends with the same bytes", async () => {
  const { home, file } = await project();
  const whole = await runToEnd(["sft", await file("whole")]);
  assert.equal(whole.status, 0, whole.output);
  assert.match(whole.output, /36 examples, 4 held out, 23 steps/);
  assert.match(whole.output, /6\/23 .* held out \d\.\d+/);
  assert.match(whole.output, /without meaning here: .*deepspeed/);
  const names = await readdir(join(home, "whole"));
  for (const name of ["model.safetensors", "training_loss.svg", "training_loss.json"]) {
    assert.ok(names.includes(name), name);
  }
  assert.deepEqual(names.filter((n) => n.startsWith("checkpoint")).sort(), [
    "checkpoint-20",
    "checkpoint-23",
  ]);
  const svg = await readFile(join(home, "whole/training_loss.svg"), "utf8");
  assert.match(svg, /^<svg[^]*held-out loss[^]*<\/svg>/);
  const log = (await readFile(join(home, "whole/trainer_log.jsonl"), "utf8")).trim().split("\n");
  const losses = log.map((line) => (JSON.parse(line) as { loss: number }).loss);
  assert.equal(losses.length, 23);
  assert.ok(losses.at(-1)! < losses[0]! / 2, `${losses[0]} to ${losses.at(-1)}`);

  const killed = await file("killed");
  const draws = Random.from(3).split("kill");
  for (const step of [4, 6, 12, 16, 20]) {
    const running = start(["sft", killed]);
    await running.said(new RegExp(`^${step}/23 `, "m"));
    await changes(join(home, "killed"), draws.integer(4), running.ended);
    running.child.kill("SIGKILL");
    assert.equal(await running.ended, "SIGKILL", running.output());
  }
  const last = await runToEnd(["sft", killed]);
  assert.equal(last.status, 0, last.output);
  assert.match(last.output, /resuming after step (15|20)/);
  assert.deepEqual(fingerprint(join(home, "killed")), fingerprint(join(home, "whole")));

  // Begun anew where the file says so, which is said; gone on from where it is told to.
  const anew = await runToEnd(["sft", killed, "overwrite_output_dir=true", "max_steps=1"]);
  assert.match(anew.output, /has checkpoint-23 and is begun anew; resume_from_checkpoint=true/);
  await rm(home, { recursive: true });
});

test("sft stopped with Ctrl-C keeps its step, and `view` shows the loss and where it was stopped", async () => {
  const { home, file } = await project();
  const running = start(["sft", await file("run")]);
  await running.said(/^4\/23 /m);
  running.child.kill("SIGINT");
  assert.equal(await running.ended, 130, running.output());
  const log = (await readFile(join(home, "run/trainer_log.jsonl"), "utf8")).trim().split("\n");
  assert.ok(log.length >= 4 && log.length < 23, running.output());
  const page = join(home, "page.html");
  const shown = await runToEnd(["view", join(home, "run"), "--out", page]);
  assert.equal(shown.status, 0, shown.output);
  const html = await readFile(page, "utf8");
  assert.match(html, new RegExp(`stopped at step ${log.length}<`));
  assert.match(html, /"title":"Loss"/);
  await rm(home, { recursive: true });
});

test("sft names what it cannot use", async () => {
  const { home, file } = await project();
  const path = await file("out");
  const failing: [string[], RegExp][] = [
    [["lerning_rate=1"], /every key must be known, got lerning_rate; did you mean learning_rate\?/],
    [["dataset=tooy"], /must have tooy .* did you mean toy\?/],
    [["resume_from_checkpoint=nowhere"], /Cannot resume: .*nowhere must be a checkpoint/],
    [["model_name_or_path=/no/model"], /Cannot load a model: \/no\/model must be a folder/],
    [["learning_rate=1e39"], /Cannot save checkpoint-5 .*weights must be finite numbers/],
  ];
  for (const [overrides, message] of failing) {
    const { status, output } = await runToEnd(["sft", path, ...overrides]);
    assert.equal(status, 1, output);
    assert.match(output, message);
    assert.doesNotMatch(output, /\n {4}at /); // no stack
  }
  const none = await runToEnd(["sft", join(home, "none.yaml")]);
  assert.match(none.output, /none.yaml: it must be readable \(ENOENT\)/);
  await rm(home, { recursive: true });
});

test(
  "sft reads the published file as it is, with folders of ours",
  { skip: published.missing },
  async () => {
    const { home } = await project();
    const path = join(home, "qwen_sft.yaml");
    await cp(published.path, path);
    const { status, output } = await runToEnd([
      "sft",
      path,
      `model_name_or_path=${model}`,
      "dataset=toy",
      `output_dir=${join(home, "out")}`,
      "max_steps=3",
    ]);
    assert.equal(status, 0, output);
    assert.match(output, /3 steps/);
    assert.ok((await readdir(join(home, "out"))).includes("training_loss.svg"));
    await rm(home, { recursive: true });
  },
);
