import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { packagePath } from "#platform/modules";
import { unzip } from "../testing/connected.js";
import { FakeHead } from "../testing/fake-head.js";
import { checkCluster } from "./check-cluster.js";

const token = "t".repeat(40);

test("doctor says what a cluster is, and that one without a token is open to all", async (t) => {
  const head = await FakeHead.start(t);
  const open = await checkCluster(head.address);
  assert.deepEqual(
    open.map(({ id, status }) => `${id} ${status}`),
    ["cluster ok", "cluster-token warning", "cluster-nodes ok"],
  );
  assert.match(open[2]!.found, /1 nodes with 4 processors and 0 GPUs/);
  const closed = await FakeHead.start(t, token);
  const [refused] = await checkCluster(closed.address);
  assert.match(refused!.fix!, /RAY_AUTH_TOKEN/);
  process.env.RAY_AUTH_TOKEN = token;
  t.after(() => delete process.env.RAY_AUTH_TOKEN);
  assert.deepEqual(
    (await checkCluster(closed.address)).map(({ status }) => status),
    ["ok", "ok", "ok"],
  );
});

/** A head whose jobs really run, in a folder, with the programs of another. */
async function working(t: TestContext, programs: Readonly<Record<string, string>>) {
  const folder = await mkdtemp(join(tmpdir(), "arpo-doctor-"));
  t.after(() => rm(folder, { recursive: true }));
  const [node, bin, storage] = ["node", "bin", "shared"].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ];
  await mkdir(node);
  await mkdir(bin);
  const none = "#!/bin/sh\nexit 1\n";
  for (const name of ["node", "arpo-lab", "python3"]) {
    const says = programs[name];
    const text = says === undefined ? none : `#!/bin/sh\necho ${says}\n`;
    await writeFile(join(bin, name), text, { mode: 0o755 });
  }
  const head = await FakeHead.start(t);
  head.onSubmit = (job) => {
    const [probe] = [...unzip([...head.packages.values()][0]!).values()];
    // A node has what every system has, whatever this process was given.
    const env = { PATH: `${bin}:${process.env.PATH ?? ""}:/usr/bin:/bin` };
    const { stdout } = spawnSync("sh", ["-c", job.entrypoint.replace("sh probe.sh", "sh -s")], {
      ...{ cwd: node, env, input: probe!, encoding: "utf8" },
    });
    head.print(job.submission_id, ...stdout.trimEnd().split("\n"));
    head.set(job.submission_id, "SUCCEEDED");
  };
  return { head, storage, folder };
}

const verl = { node: "v22.1.0", "arpo-lab": "0.1.0", python3: "0.9.1" };
const line = (checks: readonly { id: string; status: string; found: string }[], id: string) => {
  const check = checks.find((one) => one.id === id);
  assert.ok(check, checks.map((one) => one.id).join());
  return check;
};

test("a node's versions are those that the engine needs, or doctor says what to do", async (t) => {
  const { head } = await working(t, verl);
  for (const engine of ["lab", "verl"] as const) {
    const check = line(await checkCluster(head.address, { engine }), "cluster-versions");
    assert.equal(check.status, "ok");
    assert.match(check.found, /Node.js v22.1.0, arpo-lab 0.1.0, verl 0.9.1/);
  }
  const bare = await working(t, {});
  const asked = (engine: "lab" | "verl") => checkCluster(bare.head.address, { engine });
  assert.equal(line(await asked("lab"), "cluster-versions").status, "warning");
  assert.equal(line(await asked("verl"), "cluster-versions").status, "error");
  assert.match(line(await asked("verl"), "cluster-versions").found, /verl none/);
});

test("a shared folder is tried from both ends, and nothing is left in it", async (t) => {
  const { head, storage, folder } = await working(t, verl);
  await mkdir(storage);
  const ask = async (at: string) =>
    line(await checkCluster(head.address, { storage: at }), "cluster-storage");
  assert.equal((await ask(storage)).status, "ok");
  assert.deepEqual(await readdir(storage), []);
  // It is made by the node; this machine, which looked before, did not see it.
  assert.match(
    (await ask(join(folder, "new"))).found,
    /a node writes to .*; this machine does not/,
  );
  await writeFile(join(folder, "file"), "");
  const refused = await ask(join(folder, "file"));
  assert.equal(refused.status, "error");
  assert.match(refused.found, /a node cannot write to/);
  const relative = checkCluster(head.address, { storage: "runs" });
  await assert.rejects(relative, /storage must be an absolute path on the nodes, got runs/);
});

test("GPUs are counted, and a model is measured against the cards", async (t) => {
  const { head } = await working(t, verl);
  const ask = (...overrides: string[]) =>
    checkCluster(head.address, {
      engine: "verl",
      experiment: { preset: ["arpo", "7b"], overrides },
    });
  const model = "actor_rollout_ref.model.path";
  assert.equal(line(await ask(), "cluster-gpus").status, "error");
  head.resources = { GPU: 8, "accelerator_type:H100": 1 };
  const whole = await ask(`${model}=Qwen/Qwen2.5-7B`);
  assert.equal(line(whole, "cluster-gpus").status, "ok");
  // 16 bytes of 7 billion parameters on 8 cards; two, split over two, to sample.
  assert.match(
    line(whole, "cluster-model").found,
    /7 billion.*14 GB a card to train, 7 GB to sample/,
  );
  assert.equal(line(whole, "cluster-model").status, "ok");
  const large = await ask(`${model}=Qwen/Qwen2.5-72B`);
  assert.equal(line(large, "cluster-model").status, "error");
  const two = await ask("trainer.nnodes=2");
  assert.match(line(two, "cluster-gpus").found, /2 nodes with 8 GPUs each; 1 of the 1/);
  assert.equal(line(await ask(`${model}=mine/unnamed`), "cluster-model").status, "note");
  // A folder of this machine says its own sizes: the tiny model has about a million parameters.
  const tiny = line(await ask(`${model}=${packagePath("data/models/tiny")}`), "cluster-model");
  assert.equal(tiny.status, "ok");
  assert.match(tiny.found, /^0\.00\d billion parameters/);
});

test("a cluster that runs nothing is said to", async (t) => {
  const head = await FakeHead.start(t);
  const checks = await checkCluster(head.address, { engine: "lab", jobMs: 1 });
  const job = line(checks, "cluster-job");
  assert.match(job.found, /did not run within 0.001 s; it was stopped/);
  assert.deepEqual(
    [...head.jobs.values()].map(({ status }) => status),
    ["STOPPED"],
  );
});
