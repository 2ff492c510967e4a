// Jobs on a real Ray cluster of two nodes on this machine, which it loses piece by piece.
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdtemp, readFile, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { runToEnd } from "../cli/training-run.js";
import { KernelClient, ownKernel } from "../../kernel/experimental.js";
import { attach, cluster, keptJobs } from "../../src/interop/job/cluster.js";
import { RayConnection } from "../../src/interop/ray/ray-connection.js";
import { rayMissing, RayMachines } from "./ray-cluster.js";
import { until } from "../until.js";

const root = fileURLToPath(new URL("../../../", import.meta.url)).replace(/\/$/, "");
const settings = [
  "actor_rollout_ref.rollout.tools.tool_instances.python.class_path=calculator",
  ...["data.train_batch_size=2", "data.max_response_length=64"],
  ...["data.val_files=tasks:calc?test=2", "trainer.val_before_train=false"],
  ...["actor_rollout_ref.rollout.n=4", "actor_rollout_ref.rollout.initial_rollouts=2"],
  ...["trainer.logger=[console]", "lab.keep_best=false", "trainer.save_freq=100"],
];
const experiment = (steps: number) => ({
  preset: ["arpo", "tiny"] as const,
  overrides: [...settings, `trainer.total_training_steps=${steps}`],
});
const secret = "sk-0123456789abcdef";

/** The steps that a run folder has, in the order they stand there. */
async function stepsOf(folder: string): Promise<number[]> {
  const text = await readFile(join(folder, "metrics.jsonl"), "utf8").catch(() => "");
  const lines = text.slice(0, text.lastIndexOf("\n") + 1).split("\n");
  return lines.flatMap((line) => (line ? [(JSON.parse(line) as { step: number }).step] : []));
}

/** The same run on this machine, without a break. */
async function unbroken(folder: string, overrides: readonly string[]): Promise<string> {
  assert.equal((await runToEnd(["train", ...overrides, "--out", folder])).status, 0);
  return readFile(join(folder, "metrics.jsonl"), "utf8");
}

test(
  "a real Ray cluster: runs, stops, goes on, loses a node and its head",
  { skip: rayMissing },
  async (t) => {
    const folder = await mkdtemp(join(tmpdir(), "arpo-lab-ray-"));
    t.after(() => rm(folder, { recursive: true }));
    const [jobs, storage] = [join(folder, "jobs"), join(folder, "shared")];
    const token = randomBytes(32).toString("hex");
    Object.assign(process.env, { RAY_AUTH_TOKEN: token, SOME_API_KEY: secret });
    t.after(() => {
      delete process.env.RAY_AUTH_TOKEN;
      delete process.env.SOME_API_KEY;
    });
    const machines = await RayMachines.make(t, token);
    const head = await machines.head(2);
    await machines.ready(1, jobs);
    const worker = await machines.worker(2);
    const there = await machines.ready(2, jobs);

    await t.test("a wrong token is refused in words", async () => {
      process.env.OTHER_TOKEN = "0".repeat(64);
      const options = { jobs, tokenEnv: "OTHER_TOKEN" };
      await assert.rejects(cluster(machines.address, options), /must be given its own token/);
    });

    await t.test(
      "a run that is stopped saves its step, and a retry ends as an unbroken run",
      async () => {
        // More than a quick machine has done before a stop reaches it.
        const all = 40;
        const job = await there.submit(experiment(all), {
          package: root,
          storage,
          name: "stopped",
        });
        const live = join(folder, "live");
        const following = job.follow(live);
        const steps = async (at: string) => (await stepsOf(at)).length;
        await until(async () => (await steps(live)) >= 1, "a step is seen here", 600_000);
        assert.equal(await job.stop(), "STOPPED");
        assert.equal(await following, "STOPPED");
        const { out } = job.record;
        const left = await readdir(out);
        assert.ok(
          left.some((name) => name.startsWith("global_step_")),
          left.join(),
        );
        assert.ok(!left.includes("run.lock"), left.join());
        const seen = await steps(live);
        assert.equal(seen, await steps(out));
        assert.ok(seen < all);
        // Another process attaches: all that it needs is kept here.
        const again = await (await attach(job.id, { jobs })).retry();
        assert.equal(await again.follow(live), "SUCCEEDED");
        assert.equal(await steps(live), all);
        const whole = await unbroken(join(folder, "whole"), experiment(all).overrides);
        assert.equal(await readFile(join(out, "metrics.jsonl"), "utf8"), whole);
      },
    );

    await t.test("a run without shared storage comes back through the log files", async () => {
      const job = await there.submit(experiment(1), { package: root, name: "fetched" });
      const lines: string[] = [];
      for await (const line of job.lines()) lines.push(line);
      assert.equal(await job.status(), "SUCCEEDED", lines.join("\n"));
      const to = await job.fetch(join(folder, "fetched"));
      assert.equal((await readFile(join(to, "metrics.jsonl"), "utf8")).split("\n").length, 2);
      assert.ok(existsSync(join(to, "rollouts/1.jsonl")));
      assert.ok(!lines.join("\n").includes(token), "the token is in the log");
    });

    await t.test(
      "a cell shows steps as they come; killed with its kernel, another goes on",
      async () => {
        const live = join(folder, "cell");
        const kernel = await KernelClient.start(ownKernel(), { cwd: root });
        const how = { package: root, storage, name: "watched" };
        let shown = "";
        const cell = kernel.execute(
          `import { cluster } from "arpo-lab/experimental/scale";
         const there = await cluster("${there.address}", { jobs: "${jobs}" });
         const job = await there.submit(${JSON.stringify(experiment(8))}, ${JSON.stringify(how)});
         console.log(\`job \${job.id}\`);
         await job.follow("${live}");`,
          { listen: ({ content }) => (shown += JSON.stringify(content)) },
        );
        let over = false;
        cell.catch(() => undefined).finally(() => (over = true));
        await until(
          async () => over || (await stepsOf(live)).length >= 1,
          "a step is seen in a cell",
          600_000,
        );
        assert.ok(!over, shown);
        kernel.process.signal("SIGKILL");
        await assert.rejects(cell);
        await kernel.kill();
        const [record] = (await keptJobs({ jobs })).filter(({ run }) => run.startsWith("watched"));
        assert.ok(shown.includes(record!.id), shown);
        const again = await attach(record!.id, { jobs });
        assert.equal(await again.follow(live), "SUCCEEDED");
        assert.deepEqual(await stepsOf(live), [1, 2, 3, 4, 5, 6, 7, 8]);
      },
    );

    await t.test("eight runs end, each once, though a node is lost among them", async () => {
      const seeds = [1, 2, 3, 4, 5, 6, 7, 8];
      const sweep = await there.sweep(experiment(2), {
        package: root,
        storage,
        name: "sweep",
        seeds,
      });
      let killed = false;
      const runs = await sweep.run({
        atOnce: 4,
        onChange: ({ state }) => {
          if (state !== "RUNNING" || killed) return;
          killed = true;
          worker.kill();
        },
      });
      assert.deepEqual(
        runs.map(({ state }) => state),
        Array(8).fill("SUCCEEDED"),
      );
      for (const { out, run } of runs) assert.deepEqual(await stepsOf(out), [1, 2], run);
      assert.ok(killed);
      // One of those whose node was lost is what it would have been.
      const again = runs.find(({ attempt }) => attempt > 1);
      assert.ok(again, "no run was on the node that was lost");
      const overrides = [...experiment(2).overrides, `lab.seed=${again.settings["lab.seed"]!}`];
      const whole = await unbroken(join(folder, "undisturbed"), overrides);
      assert.equal(await readFile(join(again.out, "metrics.jsonl"), "utf8"), whole);
    });

    await t.test(
      "no secret stands in what the cluster tells of its jobs, nor in their logs",
      async () => {
        const connection = new RayConnection({ address: there.address });
        const listed = (await connection.bytes("list jobs", "GET", "/api/jobs/")).toString();
        const told = [listed];
        for (const { submission_id: id } of JSON.parse(listed) as {
          submission_id: string | null;
        }[]) {
          if (id === null) continue;
          // The log of a node that was lost is lost with it.
          const log = connection.bytes("read a log", "GET", `/api/jobs/${id}/logs`);
          told.push((await log.catch(() => Buffer.alloc(0))).toString());
        }
        assert.ok(told.length > 8 && told.some((text) => text.includes('\\"run\\":\\"step\\"')));
        for (const text of told) assert.ok(!text.includes(token) && !text.includes(secret), text);
      },
    );

    await t.test("a head that dies is told of, and the run goes on at the next one", async () => {
      const job = await there.submit(experiment(40), { package: root, storage, name: "headless" });
      const steps = job.metrics();
      assert.equal((await steps.next()).done, false);
      head.kill();
      await assert.rejects(job.status(), /ECONNREFUSED|ECONNRESET|socket hang up/);
      await machines.head(2);
      await machines.ready(1, jobs);
      assert.equal(await job.status(), "lost");
      const again = await job.retry();
      assert.equal((await again.metrics().next()).done, false);
      assert.equal(await again.stop(), "STOPPED");
      const text = await readFile(join(job.record.out, "metrics.jsonl"), "utf8");
      assert.match(text, /^\{"step":1,/);
    });
  },
);
