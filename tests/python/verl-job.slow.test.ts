// `submit --engine verl` on a real Ray cluster of this machine: verl 0.9.1 trains on its CPU as a job, with a
// tool and a reward in TypeScript beside its workers, and what it made comes back.
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { spawnSync } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { loadTrees } from "../../src/rollout/files/tree-files.js";
import { readRunFolder } from "../../src/view/board/read-folder.js";
import { RayMachines } from "./ray-cluster.js";
import { cpuEnvironment, experimentIn, onCpu, root, verlMissing, verlPython } from "./verl-cpu.js";

const skip =
  verlMissing ||
  (spawnSync(verlPython!, ["-c", "import ray, aiohttp"]).status !== 0 &&
    `${verlPython} has no ray[default]`);

test(
  "a run on verl, sent to a real cluster as a job, trains there and comes back with its trees",
  { skip },
  async (t) => {
    const folder = await mkdtemp(join(tmpdir(), "arpo-lab-verl-job-"));
    t.after(() => rm(folder, { recursive: true, maxRetries: 20, retryDelay: 200 }));
    const token = randomBytes(32).toString("hex");
    process.env.RAY_AUTH_TOKEN = token;
    t.after(() => delete process.env.RAY_AUTH_TOKEN);
    const nodes = { python: verlPython!, env: cpuEnvironment(verlPython!) };
    const machines = await RayMachines.make(t, token, nodes);
    await machines.head(16, 1);
    const there = await machines.ready(1, join(folder, "jobs"));

    const { experiment } = await experimentIn(folder);
    const tools = { search: "calculator" };
    const job = await there.submit(experiment, {
      storage: join(folder, "shared"),
      verl: { tools, package: root, seeded: true, settings: onCpu },
    });
    const lines: string[] = [];
    for await (const line of job.lines()) lines.push(line);
    const said = lines.join("\n");
    assert.equal(await job.status(), "SUCCEEDED", said.slice(-5000));
    assert.ok(!said.includes(token), "the token is in the log");

    const live = join(folder, "live");
    assert.equal(await job.follow(live), "SUCCEEDED");
    const steps = (await readFile(join(live, "metrics.jsonl"), "utf8")).trim().split("\n");
    assert.deepEqual(
      steps.map((line) => (JSON.parse(line) as { step: number }).step),
      [1, 2],
    );
    const record = await readRunFolder("verl", await job.fetch(join(folder, "fetched")));
    assert.deepEqual(
      record.trees.map(({ step }) => step),
      [1, 2],
    );
    for (const { step, path } of record.trees) {
      const trees = await loadTrees(path!);
      assert.equal(trees.length, 4);
      // Scored by the TypeScript that was sent along; the figure is their mean.
      const scores = trees.flatMap(({ trajectories: rows }) =>
        rows.map(({ outcome }) => outcome!.score!),
      );
      const mean = scores.reduce((sum, score) => sum + score, 0) / scores.length;
      const figure = record.lines.find((line) => line.step === step)!["critic/score/mean"];
      assert.ok(Math.abs(Number(figure) - mean) < 1e-6, `${String(figure)} against ${mean}`);
    }
  },
);
