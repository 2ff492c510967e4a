import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { mkdir, mkdtemp, readFile, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { once } from "node:events";
import { test, type TestContext } from "node:test";
import { parse } from "yaml";
import { exportVerl } from "../export-verl.js";

/** Programs of a cluster, each of which writes down how it was called. */
const programs = {
  // One line an address that joined; ends when it is told to.
  ray: `#!/bin/sh
echo "ray $* token=\${#RAY_AUTH_TOKEN} mode=$RAY_AUTH_MODE" >> "$CALLS"
case $2 in --address) [ -e "$CALLS.head" ] || exit 1; echo >> "$CALLS.joined" ;; --head) : > "$CALLS.head" ;; esac
trap 'echo "ray ended $2" >> "$CALLS"; exit 0' TERM
while :; do sleep 0.1; done
`,
  python3: `#!/bin/sh
case $1 in
-c) n=$(wc -l < "$CALLS.joined" 2>/dev/null || echo 0); echo $((n + 1)) ;;
*) echo "verl address=$RAY_ADDRESS $*" >> "$CALLS"; exit "\${VERL_STATUS:-0}" ;;
esac
`,
  scontrol: `#!/bin/sh
[ "$*" = "show hostnames node[1-3]" ] && printf 'node1\\nnode2\\nnode3\\n'
`,
  // Every node of the allocation runs the command, as srun does.
  srun: `#!/bin/sh
echo "srun $*" | head -n 1 >> "$CALLS"
while case $1 in --*) true ;; *) false ;; esac; do shift; done
pids=
for i in 0 1 2; do SLURM_NODEID=$i "$@" & pids="$pids $!"; done
status=0
for pid in $pids; do wait "$pid" || status=$?; done
exit $status
`,
  sleep: `#!/bin/sh
exec ${process.execPath} -e 'setTimeout(() => {}, 20)'
`,
};

async function place(t: TestContext) {
  const folder = await mkdtemp(join(tmpdir(), "arpo-launch-"));
  t.after(() => rm(folder, { recursive: true, maxRetries: 20, retryDelay: 100 }));
  const [job, bin, calls] = ["job", "bin", "calls"].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ];
  const overrides = [
    ...["data.train_files=tasks:calc?train=2", "data.val_files=tasks:calc?test=1"],
    ...["trainer.nnodes=3", "trainer.n_gpus_per_node=4", "trainer.experiment_name=my run/1"],
  ];
  const tools = { python: "calculator", search: "calculator" };
  await exportVerl({ preset: "arpo", overrides }, job, { tools });
  await mkdir(bin);
  for (const [name, text] of Object.entries(programs)) {
    await writeFile(join(bin, name), text, { mode: 0o755 });
  }
  const env = { PATH: `${bin}:${process.env.PATH ?? ""}`, CALLS: calls };
  const said = async () => (await readFile(calls, "utf8")).trim().split("\n");
  return { job, env, said };
}

const slurm = {
  SLURM_JOB_NODELIST: "node[1-3]",
  ...{ SLURM_JOB_NUM_NODES: "3", SLURM_JOB_ID: "77" },
};

test("every script of a job folder is one that its shell reads", async (t) => {
  const { job } = await place(t);
  for (const [shell, name] of [
    ["sh", "run.sh"],
    ["sh", "nodes.sh"],
    ["bash", "slurm.sh"],
  ] as const) {
    const { status, stderr } = spawnSync(shell, ["-n", join(job, name)], { encoding: "utf8" });
    assert.equal(status, 0, `${name}: ${stderr}`);
  }
});

test("Slurm: the first node runs verl once all have joined, and ends the others", async (t) => {
  const { job, env, said } = await place(t);
  const text = await readFile(join(job, "slurm.sh"), "utf8");
  const asked = text.match(/^#SBATCH .*$/gm);
  assert.deepEqual(asked, [
    ...["#SBATCH --job-name=my-run-1", "#SBATCH --nodes=3", "#SBATCH --ntasks-per-node=1"],
    ...["#SBATCH --gpus-per-node=4", "#SBATCH --exclusive", "#SBATCH --output=slurm-%j.log"],
  ]);
  const own = { ...env, ...slurm, SLURM_SUBMIT_DIR: job };
  const args = ["-s", "--", "trainer.total_epochs=2"];
  const run = spawnSync("bash", args, { env: own, input: text, encoding: "utf8", cwd: "/" });
  assert.equal(run.status, 0, run.stderr);
  const calls = await said();
  const at = (start: string) => calls.filter((line) => line.startsWith(start));
  const port = 20000 + 77;
  // A worker that is there before the head tries again; the key is the job's own.
  assert.deepEqual([...new Set(at("ray start"))].sort(), [
    `ray start --address node1:${port} --block token=64 mode=token`,
    `ray start --head --port ${port} --block token=64 mode=token`,
  ]);
  assert.equal(at(`ray start --head`).length, 1);
  const [verl, ...more] = at("verl");
  assert.deepEqual(more, []);
  assert.match(
    verl!,
    /^verl address=auto -m verl.trainer.main_ppo .* trainer.nnodes=3 ray_kwargs.ray_init.num_cpus=null trainer.total_epochs=2$/,
  );
  assert.equal(at("ray ended --head").length, 1);
  // Nothing is left that another run of this folder could take for its own.
  const left = await readdir(join(job, "results"));
  assert.deepEqual(
    left.filter((name) => name.startsWith(".over")),
    [],
  );
});

test("Slurm: what verl fails with is what the job ends with", async (t) => {
  const { job, env } = await place(t);
  const own = { ...env, ...slurm, SLURM_SUBMIT_DIR: job, VERL_STATUS: "7" };
  const { status, stderr } = spawnSync("bash", [join(job, "slurm.sh")], { env: own });
  assert.equal(status, 7, String(stderr));
});

test("by hand: a worker waits for its head, the head for its workers; both end when told to", async (t) => {
  const { job, env, said } = await place(t);
  const start = (args: string[], more: object = {}) =>
    spawn("sh", [join(job, "nodes.sh"), ...args], { env: { ...env, ...more }, stdio: "ignore" });
  const worker = start(["worker", "first"]);
  t.after(() => worker.kill("SIGKILL"));
  const head = start(["head", "a=b"], { NODES: "2", RAY_PORT: "7000" });
  t.after(() => head.kill("SIGKILL"));
  assert.deepEqual(await once(head, "exit"), [0, null]);
  assert.ok((await said()).some((line) => / trainer.nnodes=2 .* a=b$/.test(line)));
  worker.kill("SIGTERM");
  assert.deepEqual(await once(worker, "exit"), [143, null]);
  for (const args of [[], ["dance"], ["worker"]]) {
    const { status, stderr } = spawnSync("sh", [join(job, "nodes.sh"), ...args], { env });
    assert.equal(status, 2);
    assert.match(String(stderr), /must be nodes.sh head .* got/);
  }
});

test("sky.yaml has the fields that SkyPilot documents, and names no secret's value", async (t) => {
  const { job } = await place(t);
  const task = parse(await readFile(join(job, "sky.yaml"), "utf8")) as Record<string, unknown>;
  // docs.skypilot.co/en/latest/reference/yaml-spec.html
  const documented = [
    "name",
    "workdir",
    "num_nodes",
    "resources",
    "envs",
    "secrets",
    "setup",
    "run",
  ];
  assert.deepEqual(
    Object.keys(task).filter((key) => !documented.includes(key)),
    [],
  );
  const { run, ...rest } = task;
  assert.deepEqual(rest, {
    ...{ name: "my-run-1", workdir: ".", num_nodes: 3 },
    resources: { accelerators: "H100:4", disk_size: 512 },
    secrets: { RAY_AUTH_TOKEN: null },
    setup: 'pip install "verl[vllm]==0.9.1"\n',
  });
  const { status, stderr } = spawnSync("bash", ["-n"], { input: String(run) });
  assert.equal(status, 0, String(stderr));
});

test("SkyPilot: each node takes its part", async (t) => {
  const { job, env, said } = await place(t);
  const { run } = parse(await readFile(join(job, "sky.yaml"), "utf8")) as { run: string };
  const nodes = { SKYPILOT_NODE_IPS: "10.0.0.1\n10.0.0.2\n", SKYPILOT_NUM_GPUS_PER_NODE: "4" };
  const start = (rank: string, all: string) =>
    spawn("bash", ["-c", run], {
      cwd: job,
      stdio: "ignore",
      env: { ...env, ...nodes, SKYPILOT_NODE_RANK: rank, SKYPILOT_NUM_NODES: all },
    });
  const worker = start("1", "2");
  t.after(() => worker.kill("SIGKILL"));
  const head = start("0", "2");
  assert.deepEqual(await once(head, "exit"), [0, null]);
  worker.kill("SIGTERM");
  await once(worker, "exit");
  assert.deepEqual(await once(start("0", "1"), "exit"), [0, null]);
  const verl = (await said()).filter((line) => line.startsWith("verl"));
  assert.match(verl[0]!, / trainer.nnodes=2 .* trainer.n_gpus_per_node=4$/);
  assert.match(verl[1]!, /^verl address= .* trainer.n_gpus_per_node=4$/);
});
