// Past one machine: what sending a job and hearing of it costs, what many endpoints do together, and what
// the tree's loop costs inside verl beside verl's own. Jobs go to a head that answers as Ray's does, so the
// time is ours; with ARPO_LAB_RAY=1 also to a real cluster of one node (Python in ARPO_LAB_PYTHON). Loops
// need a Python with verl 0.9.1 in ARPO_LAB_VERL_PYTHON; `npm run bench -- scale jobs` measures jobs alone.
import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { mock } from "node:test";
import { fileURLToPath } from "node:url";
import { pause } from "../../src/base/http/pause.js";
import { duration } from "../../src/base/http/testing/simulated-fleet.js";
import { cluster, type Cluster } from "../../src/interop/job/cluster.js";
import type { Job } from "../../src/interop/job/job.js";
import { FakeHead } from "../../src/interop/testing/fake-head.js";
import { rayMissing, RayMachines } from "../../tests/python/ray-cluster.js";
import type { Figure } from "./figure.js";
import { Asked } from "./parts/asked.js";

const root = fileURLToPath(new URL("../../../", import.meta.url));

/** What a test's `t.after` does, for a benchmark: undone in the reverse order. */
class Afterwards {
  readonly #undo: (() => unknown)[] = [];
  after = (undo: () => unknown): void => void this.#undo.unshift(undo);
  async end(): Promise<void> {
    for (const undo of this.#undo) await undo();
  }
}

const middle = (values: readonly number[]): number =>
  [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)]!;

const figure = (name: string, value: number, unit: string): Figure => ({
  ...{ name: `scale.${name}`, value, unit },
});

const experiment = (steps: number) => ({
  preset: ["arpo", "tiny"] as const,
  overrides: [
    "actor_rollout_ref.rollout.tools.tool_instances.python.class_path=calculator",
    ...["data.train_batch_size=2", "data.max_response_length=64"],
    ...["data.val_files=tasks:calc?test=2", "trainer.val_before_train=false"],
    ...["actor_rollout_ref.rollout.n=4", "actor_rollout_ref.rollout.initial_rollouts=2"],
    ...["trainer.logger=[console]", `trainer.total_training_steps=${steps}`],
  ],
});

/** Milliseconds until a job is sent: the first brings its package along. */
async function submitted(there: Cluster, times: number): Promise<{ took: number[]; last: Job }> {
  const took: number[] = [];
  let last: Job | undefined;
  for (let i = 0; i < times; i++) {
    const began = performance.now();
    last = await there.submit(experiment(1), { package: root });
    took.push(performance.now() - began);
  }
  return { took, last: last! };
}

async function* ours(jobs: string): AsyncIterable<Figure> {
  const undo = new Afterwards();
  try {
    const head = await FakeHead.start(undo);
    const there = await cluster(head.address, { jobs });
    const { took, last } = await submitted(there, 9);
    const [zip] = head.packages.values();
    yield figure("job_kb", zip!.length / 1000, "kB");
    yield figure("submit_first_ms", took[0]!, "ms");
    yield figure("submit_ms", middle(took.slice(1)), "ms");
    head.set(last.id, "RUNNING");
    const lines = last.lines();
    const delays: number[] = [];
    for (let i = 0; i < 50; i++) {
      const line = lines.next();
      while (head.readers(last.id) === 0) await pause(5);
      const began = performance.now();
      head.print(last.id, `line ${i}`);
      await line;
      delays.push(performance.now() - began);
    }
    head.set(last.id, "SUCCEEDED");
    await lines.return("SUCCEEDED");
    yield figure("log_delay_ms", middle(delays), "ms");
  } finally {
    await undo.end();
  }
}

/** The same at a real head: until a job is sent, and until its first step is seen here. */
async function* realRay(jobs: string): AsyncIterable<Figure> {
  if (rayMissing !== false) return;
  const undo = new Afterwards();
  process.env.RAY_AUTH_TOKEN = randomBytes(32).toString("hex");
  try {
    const machines = await RayMachines.make(undo, process.env.RAY_AUTH_TOKEN);
    const began = performance.now();
    await machines.head(2);
    const there = await machines.ready(1, jobs);
    yield figure("ray.start_s", (performance.now() - began) / 1000, "s");
    // A head prepares itself for its first job.
    const warm = await there.submit(experiment(1), { package: root });
    await warm.wait();
    const sent = performance.now();
    const job = await there.submit(experiment(1), { package: root });
    yield figure("ray.submit_ms", performance.now() - sent, "ms");
    const step = await job.metrics().next();
    if (step.done) throw new Error(`Cannot measure: job ${job.id} must take a step, got none`);
    yield figure("ray.first_step_s", (performance.now() - sent) / 1000, "s");
    await job.wait();
  } finally {
    await undo.end();
    delete process.env.RAY_AUTH_TOKEN;
  }
}

/**
 * Requests per second of the clock of simulated servers, 16 at a time each, whose answers take 0.4 s at the
 * median with a long tail: what the fleet's own choices give, whatever else this machine does.
 */
async function* fleets(): AsyncIterable<Figure> {
  const each = 2000;
  let one: number | undefined;
  for (const [count, faults] of [[1], [2], [4], [8], [8, true]] as const) {
    const ms = await duration({ mock }, count, each * count, { faults: faults === true });
    const value = (1000 * each * count) / ms;
    one ??= value;
    const beside =
      count === 1 ? {} : { baseline: "one endpoint", baselineValue: one, ratio: value / one };
    const name = `endpoints_${count}${faults ? "_faults" : ""}`;
    yield { ...figure(name, value, "requests/s"), ...beside };
  }
}

/** Processor time per trajectory of the tree's loop inside verl, at a server that answers at once. */
async function* loops(): AsyncIterable<Figure> {
  const python = process.env.ARPO_LAB_VERL_PYTHON;
  if (python === undefined) return;
  const both = new Asked(python, [join(root, "tools/bench/baselines/verl_loops.py"), root]);
  const { tree, stock } = (await both.read()) as { tree: number; stock: number };
  await both.close();
  const beside = {
    baseline: "verl's single_turn_agent",
    baselineValue: stock,
    ratio: tree / stock,
  };
  yield { ...figure("verl_loop_ms_row", tree, "ms"), ...beside };
}

export async function* figures(args: readonly string[]): AsyncIterable<Figure> {
  const jobs = mkdtempSync(join(tmpdir(), "arpo-lab-jobs-"));
  const wanted = (name: string) =>
    args.includes(name) || !["jobs", "endpoints", "loops"].some((one) => args.includes(one));
  try {
    if (wanted("jobs")) yield* ours(jobs);
    if (wanted("jobs")) yield* realRay(jobs);
    if (wanted("endpoints")) yield* fleets();
    if (wanted("loops")) yield* loops();
  } finally {
    rmSync(jobs, { recursive: true });
  }
}
