// Runs on verl as jobs of a head that answers as Ray's does.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { chmod, mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { connected, unzip } from "../../src/interop/testing/connected.js";
import { until } from "../until.js";

const onVerl = {
  preset: "arpo",
  overrides: [
    ...["trainer.experiment_name=far", "data.train_files=tasks:calc?train=2"],
    "data.val_files=tasks:calc?test=1",
  ],
} as const;
const verl = { tools: { python: "calculator" } };

test("a run on verl goes over as its job folder, and its figures come off verl's console", async (t) => {
  const { head, there, folder } = await connected(t);
  const storage = join(folder, "shared");
  const job = await there.submit(onVerl, { storage, verl });
  const { out } = job.record;
  assert.equal(head.jobs.get(job.id)!.entrypoint, `exec sh start.sh ${out}`);
  const files = unzip([...head.packages.values()][0]!);
  for (const name of [
    "overrides.txt",
    "run.sh",
    "train.parquet",
    "arpo_verl/loop.py",
    "slurm.sh",
  ]) {
    assert.ok(files.has(name), name);
  }
  assert.match(files.get("overrides.txt")!, /^trainer.default_local_dir=@JOB@\/checkpoints\//m);
  assert.match(files.get("overrides.txt")!, /^trainer.logger=\[console,.*file\]$/m);
  head.set(job.id, "RUNNING");
  head.print(
    job.id,
    "\u001b[36m(TaskRunnerV1 pid=7)\u001b[0m Training Progress:   0%|    | 0/2",
    "\u001b[36m(TaskRunnerV1 pid=7)\u001b[0m step:1 - critic/score/mean:0.25 - actor/lr:np.float64(1e-06) - training/global_step:1",
    "(TaskRunnerV1 pid=7) step:1 - critic/score/mean:0.25",
    "step:2 - critic/score/mean:-0.5 - actor/kl:nan",
  );
  const run = join(folder, "run");
  const following = job.follow(run);
  await until(() => head.readers(job.id) > 0, "somebody reads");
  head.set(job.id, "SUCCEEDED");
  assert.equal(await following, "SUCCEEDED");
  const lines = (await readFile(join(run, "metrics.jsonl"), "utf8")).trim().split("\n");
  assert.deepEqual(
    lines.map((line) => JSON.parse(line) as unknown),
    [
      { step: 1, "critic/score/mean": 0.25, "actor/lr": 1e-6, "training/global_step": 1 },
      { step: 2, "critic/score/mean": -0.5 },
    ],
  );
  await assert.rejects(there.submit(onVerl, { verl }), /storage must be a folder that all/);
  await assert.rejects(there.submit(onVerl, { storage, verl, gpus: 8 }), /gpus must be 0/);
  await assert.rejects(there.sweep(onVerl, { storage, verl, seeds: [1] }), /one at a time/);
});

test("the folder of a run on verl goes to what the nodes share, once, and comes back as a run folder", async (t) => {
  const { head, there, folder } = await connected(t);
  const job = await there.submit(onVerl, { storage: join(folder, "shared"), verl });
  const { out } = job.record;
  const node = join(folder, "node");
  const files = unzip([...head.packages.values()][0]!);
  for (const [name, text] of files) {
    await mkdir(dirname(join(node, name)), { recursive: true });
    await writeFile(join(node, name), text);
  }
  const python = join(folder, "python");
  await writeFile(
    python,
    `#!/bin/sh\necho '{"step":1,"data":{"critic/score/mean":0.5}}' > "$VERL_FILE_LOGGER_PATH"\n`,
  );
  await chmod(python, 0o755);
  const attempt = () => {
    const env = { ...process.env, PYTHON: python };
    return spawnSync("sh", ["-c", head.jobs.get(job.id)!.entrypoint], { cwd: node, env });
  };
  assert.equal(attempt().status, 0);
  await writeFile(join(out, "results/kept"), "");
  assert.equal(attempt().status, 0);
  assert.ok(existsSync(join(out, "results/kept")));
  const run = await job.fetch(join(folder, "run"));
  assert.match(await readFile(join(run, "metrics.jsonl"), "utf8"), /^\{"step":1,/);
});
