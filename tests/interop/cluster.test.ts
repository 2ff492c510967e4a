// Jobs on a head that answers as Ray's does.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { readFile, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { attach, cluster, keptJobs } from "../../src/interop/job/cluster.js";
import { mostBytes, RayConnection, RayError } from "../../src/interop/ray/ray-connection.js";
import { RayApi } from "../../src/interop/ray/ray-api.js";
import { zipOf } from "../../src/interop/ray/zip.js";
import { connected, unzip } from "../../src/interop/testing/connected.js";
import { FakeHead } from "../../src/interop/testing/fake-head.js";
import { until } from "../until.js";

const token = "t".repeat(40);

function withEnv(t: TestContext, name: string, value: string): void {
  process.env[name] = value;
  t.after(() => Reflect.deleteProperty(process.env, name));
}

const experiment = {
  preset: ["arpo", "tiny"],
  overrides: ["trainer.experiment_name=one"],
} as const;
const step = (n: number) => `{"run":"step","step":${n},"metrics":{"critic/score/mean":${n / 10}}}`;

test("a package's bytes depend on names and contents alone", () => {
  const [a, b] = ["a", "b"].map((name) => ({ name, data: Buffer.from(name.repeat(50)) }));
  assert.deepEqual(zipOf([a!, b!]), zipOf([b!, a!]));
  assert.notDeepEqual(zipOf([a!]), zipOf([{ ...a!, executable: true }]));
  assert.deepEqual([...unzip(zipOf([b!, a!])).keys()], ["a", "b"]);
});

test("a token that is missing or wrong is told, and never shown", async (t) => {
  const head = await FakeHead.start(t, token);
  await assert.rejects(cluster(head.address), /asks for a token .*got none/);
  withEnv(t, "MY_RAY", "wrong-token-0123");
  const wrong: unknown = await cluster(head.address, { tokenEnv: "MY_RAY" }).catch(
    (e: unknown) => e,
  );
  assert.ok(wrong instanceof RayError && wrong.status === 403);
  assert.match(wrong.message, /must be given its own token, got another/);
  assert.doesNotMatch(wrong.message, /wrong-token/);
  withEnv(t, "MY_RAY", token);
  assert.equal(
    (await (await cluster(head.address, { tokenEnv: "MY_RAY" })).version()).ray,
    "2.60.0",
  );
  await assert.rejects(
    cluster(head.address, { tokenEnv: "NO_SUCH" }),
    /NO_SUCH must hold its token/,
  );
  await assert.rejects(cluster("http://user:secret@h:1"), (e: Error) => !/secret/.test(e.message));
});

test("a job is written down before it is sent, with all that it takes to send it again", async (t) => {
  const { head, there, jobs } = await connected(t);
  let kept = "";
  head.onSubmit = ({ submission_id: id }) => {
    kept = readFileSync(join(jobs, `${id}.json`), "utf8");
  };
  const job = await there.submit(experiment, { package: "/opt/arpo-lab", cpus: 2 });
  assert.match(kept, /"state": "written"/);
  assert.match(job.id, /^one-[0-9a-f]{8}-1$/);
  const sent = head.jobs.get(job.id)!;
  assert.match(
    sent.entrypoint,
    /^exec sh run\.sh \/opt\/arpo-lab log:arpo-lab\/one-[0-9a-f]{8} 1$/,
  );
  assert.equal(sent.entrypoint_num_cpus, 2);
  const [zip] = head.packages.values();
  const files = unzip(zip!);
  assert.deepEqual(
    [...files.keys()].filter((name) => !name.startsWith("files/")),
    ["run.sh", "run.yaml"],
  );
  assert.match(files.get("run.sh")!, /unset RAY_AUTH_TOKEN/);
  assert.match(files.get("run.yaml")!, /experiment_name: one/);
  assert.equal(await job.status(), "PENDING");
  await there.submit(experiment, { package: "/opt/arpo-lab" });
  assert.equal(head.puts.length, 1, "the same package was sent twice");
});

test("a job whose answer was lost on the way is not sent twice", async (t) => {
  const { head, there } = await connected(t);
  head.loseAnswer = true;
  const job = await there.submit(experiment);
  assert.deepEqual([...head.jobs.keys()], [job.id]);
  assert.equal(job.record.state, "PENDING");
});

test("files of this machine are uploaded, with what they import; those of the nodes are named", async (t) => {
  const { head, there, folder } = await connected(t);
  await writeFile(
    join(folder, "reward.ts"),
    'import { one } from "./help.js";\nexport const r = one;\n',
  );
  await writeFile(join(folder, "help.ts"), "export const one = () => 1;\n");
  const config = join(folder, "run.yaml");
  await writeFile(config, "custom_reward_function: { path: reward.ts, name: r }\n");
  const notes: string[] = [];
  const options = { note: (line: string) => notes.push(line) };
  const overrides = ["actor_rollout_ref.model.path=/models/qwen"];
  await there.submit({ ...experiment, files: [config], overrides }, options);
  const files = unzip([...head.packages.values()][0]!);
  const [reward] = [...files.keys()].filter((name) => name.endsWith("reward.ts"));
  assert.ok(files.has(reward!.replace("reward.ts", "help.ts")));
  assert.match(files.get("run.yaml")!, new RegExp(`path: ./${reward!}`));
  assert.match(
    notes.join(),
    /actor_rollout_ref.model.path: \/models\/qwen is not here; it must be on the nodes/,
  );
});

test("nothing is sent that holds a secret of the environment, or is too large", async (t) => {
  const { head, there, folder } = await connected(t);
  withEnv(t, "SOME_API_KEY", "sk-0123456789");
  const reward = join(folder, "reward.ts");
  await writeFile(reward, 'export const r = () => fetch("http://x?key=sk-0123456789");\n');
  const overrides = [`custom_reward_function.path=${reward}`];
  await assert.rejects(
    there.submit({ ...experiment, overrides }),
    (error: Error) =>
      /no secret may be in it, got the value of SOME_API_KEY in files\/\d\/reward.ts/.test(
        error.message,
      ) && !error.message.includes("sk-0123"),
  );
  const model = join(folder, "model.gguf");
  await writeFile(model, "");
  await truncate(model, 900 * 2 ** 20);
  const large = { ...experiment, overrides: [`actor_rollout_ref.model.path=${model}`] };
  await assert.rejects(
    there.submit(large),
    /at most 104857600 bytes, got \d+, of which files\/\d\/model.gguf/,
  );
  assert.deepEqual([head.puts, head.jobs.size], [[], 0]);
  await assert.rejects(
    there.submit(experiment, { package: "lab" }),
    /package must be "image", an abs/,
  );
  await assert.rejects(
    there.submit(experiment, { storage: "runs" }),
    /storage must be an absolute path/,
  );
});

test("a log is read line by line, across a line that breaks, each line once", async (t) => {
  const { head, there } = await connected(t);
  const job = await there.submit(experiment);
  head.set(job.id, "RUNNING");
  head.print(job.id, "setting up", step(1));
  const seen: string[] = [];
  const reading = (async () => {
    const lines = job.lines();
    for (;;) {
      const { done, value } = await lines.next();
      if (done) return value;
      seen.push(value);
    }
  })();
  await until(() => seen.length === 2, "the first lines");
  head.cut(job.id);
  await until(() => head.readers(job.id) > 0, "the log is read again");
  head.print(job.id, step(2));
  await until(() => seen.length === 3, "the third line");
  head.set(job.id, "SUCCEEDED", "Job finished successfully.");
  assert.equal(await reading, "SUCCEEDED");
  assert.deepEqual(seen, ["setting up", step(1), step(2)]);
});

test(
  "a reader that is told to stop while it is busy with a line stops",
  { timeout: 60_000 },
  async (t) => {
    const { head, there } = await connected(t);
    const job = await there.submit(experiment);
    head.set(job.id, "RUNNING");
    head.print(job.id, "one", "two");
    const stopped = new AbortController();
    const lines = job.lines({ signal: stopped.signal });
    assert.equal((await lines.next()).value, "one");
    assert.equal((await lines.next()).value, "two"); // the last one: what follows is a wait
    stopped.abort(new Error("the notebook is gone"));
    await assert.rejects(lines.next(), /the notebook is gone/);
  },
);

test("figures follow into a run folder, each step once, also by one that comes after another was killed", async (t) => {
  const { head, there, jobs, folder } = await connected(t);
  const job = await there.submit(experiment);
  head.set(job.id, "RUNNING");
  head.print(job.id, "noise", step(1), step(2));
  const run = join(folder, "run");
  const killed = new AbortController();
  const first = job.follow(run, { signal: killed.signal }).catch((error: unknown) => error);
  const steps = async () =>
    (await readFile(join(run, "metrics.jsonl"), "utf8").catch(() => "")).split("\n").length - 1;
  await until(async () => (await steps()) === 2, "two steps");
  killed.abort(new Error("the notebook is gone"));
  assert.match(String(await first), /the notebook is gone/);
  const again = await attach(job.id, { jobs });
  const second = again.follow(run);
  await until(() => head.readers(job.id) > 0, "somebody reads");
  head.print(job.id, step(2), step(3));
  head.set(job.id, "SUCCEEDED");
  assert.equal(await second, "SUCCEEDED");
  const saved = (await readFile(join(run, "metrics.jsonl"), "utf8")).trim().split("\n");
  assert.deepEqual(
    saved.map((line) => (JSON.parse(line) as { step: number }).step),
    [1, 2, 3],
  );
});

test("a head that starts anew knows nothing: the job is lost, and goes on by its own record", async (t) => {
  const { head, there, jobs } = await connected(t);
  const job = await there.submit(experiment, { storage: "/shared/runs" });
  head.set(job.id, "RUNNING");
  assert.equal(await job.status(), "RUNNING");
  await head.kill();
  const away: unknown = await job.status().catch((error: unknown) => error);
  assert.ok(away instanceof RayError && away.away);
  assert.deepEqual((await keptJobs({ jobs }))[0]!.state, "RUNNING");
  await head.listen();
  assert.equal(await job.status(), "lost");
  const again = await job.retry();
  assert.equal(again.id, job.id.replace(/1$/, "2"));
  assert.equal(again.record.out, job.record.out);
  assert.equal(head.jobs.size, 1);
  await assert.rejects(again.retry(), /it must be over, .*got PENDING/);
  assert.equal(await again.stop(), "STOPPED");
});

test("a run folder comes back to the byte, its checkpoints if they are asked for", async (t) => {
  const { head, there, folder } = await connected(t);
  const job = await there.submit(experiment);
  const root = job.record.out.replace("log:", "");
  const bytes = Buffer.from([0, 1, 2, 255, 13, 10, 0]);
  head.files.set(`${root}/metrics.jsonl`, Buffer.from("{}\n"));
  head.files.set(`${root}/rollouts/1.bin`, bytes);
  head.files.set(`${root}/global_step_1/model`, bytes);
  await assert.rejects(job.fetch(folder), /must have run on a node, got none/);
  head.set(job.id, "SUCCEEDED");
  const run = join(folder, "run");
  assert.equal(await job.fetch(run), run);
  assert.deepEqual(await readFile(join(run, "rollouts/1.bin")), bytes);
  await assert.rejects(readFile(join(run, "global_step_1/model")), /ENOENT/);
  await job.fetch(run, { checkpoints: true });
  assert.deepEqual(await readFile(join(run, "global_step_1/model")), bytes);
  head.files.set(`${root}/../../../x`, bytes);
  const evil = join(folder, "evil");
  await assert.rejects(job.fetch(evil), /got a file/);
});

test("a sweep runs each setting once, so many at a time, and again where a node was lost", async (t) => {
  const { head, there, jobs } = await connected(t);
  head.cpus = 3;
  let [under, most, losses] = [0, 0, 0];
  head.onSubmit = ({ submission_id: id }) => {
    most = Math.max(most, ++under);
    setTimeout(() => {
      under--;
      if (losses < 2) {
        losses++;
        head.set(id, "FAILED", "Unexpected error: JOB_SUPERVISOR_ACTOR_DIED, the node has died");
      } else head.set(id, "SUCCEEDED");
    }, 5);
  };
  const options = { seeds: [1, 2, 3, 4], grid: { "algorithm.adv_estimator": ["grpo", "gpg"] } };
  const sweep = await there.sweep(experiment, options);
  // One that drives it is killed; another continues.
  const killed = AbortSignal.timeout(200);
  await sweep.run({ signal: killed }).catch(() => undefined);
  const again = (await cluster(head.address, { jobs })).openSweep(sweep.name);
  const runs = await again.run();
  assert.deepEqual(
    runs.map(({ state }) => state),
    Array(8).fill("SUCCEEDED"),
  );
  assert.ok(most <= 3, `${most} at a time`);
  assert.equal(head.jobs.size, 8 + losses);
  assert.equal(new Set(runs.map(({ settings }) => JSON.stringify(settings))).size, 8);
  assert.equal(new Set(runs.map(({ out }) => out)).size, 8);
  const [one] = head.jobs.values();
  assert.match(one!.entrypoint, /algorithm\.adv_estimator=grpo lab\.seed=1$/);
  assert.equal(one!.metadata["sweep"], sweep.name);
  await assert.rejects(there.sweep(experiment, {}), /seeds or a grid must be given/);
  await assert.rejects(
    there.sweep(experiment, { grid: { "lab.sed": [1] } }),
    /every key must be known/,
  );
  await assert.rejects(there.sweep(experiment, { seeds: [1, 1] }), /got a value twice/);
});

test("a run that fails by itself is not sent again by its sweep", async (t) => {
  const { head, there } = await connected(t);
  head.onSubmit = ({ submission_id: id }) => {
    setTimeout(() => {
      head.set(id, "FAILED", "Job entrypoint command failed with exit code 1");
    });
  };
  const sweep = await there.sweep(experiment, { seeds: [1, 2] });
  const runs = await sweep.run();
  assert.deepEqual(
    runs.map(({ state, attempt }) => [state, attempt]),
    [
      ["FAILED", 1],
      ["FAILED", 1],
    ],
  );
});

test("a package one byte larger than Ray takes is refused before anything is sent", async (t) => {
  const { head } = await connected(t);
  const api = new RayApi(new RayConnection({ address: head.address }));
  await assert.rejects(api.upload(Buffer.alloc(mostBytes + 1)), /at most 104857600 bytes/);
  assert.deepEqual(head.puts, []);
});
