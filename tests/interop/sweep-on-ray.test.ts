// `sweep({ ray })` on a head that answers as Ray's does.
import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { sweep } from "../../src/run/sweep/sweep.js";
import { keptJobs } from "../../src/interop/job/cluster.js";
import { connected } from "../../src/interop/testing/connected.js";

test("sweep({ ray }) sends each run as a job, follows it, brings its folder here, and repeats none", async (t) => {
  const { head, folder, jobs } = await connected(t);
  process.env["ARPO_LAB_JOBS"] = jobs;
  t.after(() => Reflect.deleteProperty(process.env, "ARPO_LAB_JOBS"));
  head.cpus = 2;
  let [losses, isBroken] = [1, true];
  const work = async (id: string) => {
    const record = (await keptJobs({ jobs })).find((job) => job.id === id)!;
    const seed = Number(/(?:fresh|trees)-(\d)/.exec(id)![1]);
    head.set(id, "RUNNING");
    head.print(id, `{"run":"step","step":1,"metrics":{"critic/score/mean":${seed / 10}}}`);
    if (losses-- > 0) {
      return head.set(
        id,
        "FAILED",
        "Unexpected error: JOB_SUPERVISOR_ACTOR_DIED, the node has died",
      );
    }
    if (isBroken && id.includes("trees-2")) return head.set(id, "FAILED", "exit code 1");
    const figures = { step: 1, "training/global_step": 1, "critic/score/mean": seed / 10 };
    const root = record.out.replace("log:", "");
    head.files.set(`${root}/metrics.jsonl`, Buffer.from(`${JSON.stringify(figures)}\n`));
    head.set(id, "SUCCEEDED");
  };
  head.onSubmit = ({ submission_id: id }) => {
    setTimeout(() => {
      work(id).catch((error: unknown) => head.set(id, "FAILED", String(error)));
    }, 5);
  };
  const heard = new Set<string>();
  const options = {
    folder: join(folder, "places"),
    preset: "tiny",
    arms: { fresh: { preset: "grpo" }, trees: { preset: "arpo" } },
    seeds: [1, 2],
    ray: head.address,
    live: false,
    onChange: ({ runs }) => {
      for (const { arm, seed, step } of runs) if (step > 0) heard.add(`${arm}/${seed}`);
    },
  } satisfies Parameters<typeof sweep>[0];
  const first = await sweep(options);
  // One job was lost with its node and sent again; one failed by itself and stopped no other.
  assert.equal(head.jobs.size, 5);
  assert.deepEqual(
    first.runs.map(({ arm, seed, state }) => `${arm}/${seed} ${state}`),
    ["fresh/1 done", "fresh/2 done", "trees/1 done", "trees/2 failed"],
  );
  assert.match(
    String(first.failed[0]!.error),
    /Cannot finish places-trees-2.*: it ended as FAILED \(exit code 1\)/,
  );
  assert.ok(heard.has("fresh/2") && heard.has("trees/1"));
  assert.equal(first.runs[1]!.last["critic/score/mean"], 0.2);

  isBroken = false;
  const again = await sweep(options);
  assert.equal(head.jobs.size, 6, "what is done is not sent again");
  assert.ok(again.runs.every(({ state }) => state === "done"));
  assert.equal(Object.values(again.folders).flat().length, 4);
});
