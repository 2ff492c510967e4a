// verl 0.9.1 itself trains on this machine's CPU with our tree as its agent loop, for two steps: Ray,
// TransferQueue, agent loops, FSDP on gloo, weights back to what samples. ARPO_LAB_VERL_PYTHON names a
// Python that has it: pip install "verl[verl-core]==0.9.1" torch transformers "ray[default]" hydra-core aiohttp (6 GB).
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { HfTokenizer } from "../../src/model/tokenizer/hf-tokenizer.js";
import { RemotePolicy } from "../../src/policy/remote/remote-policy.js";
import { loadTrees } from "../../src/rollout/files/tree-files.js";
import { rollout } from "../../src/rollout/rollout.js";
import { loadConfig } from "../../src/run/config/load.js";
import { rolloutOptions } from "../../src/run/trainer/options.js";
import { tasksOf } from "../../src/run/trainer/tasks-of.js";
import { exportVerl } from "../../src/interop/verl/export-verl.js";
import { readVerlRun } from "../../src/interop/verl/read-verl-run.js";
import { loadReward } from "../../src/reward/load-reward.js";
import { score } from "../../src/reward/score-trees.js";
import { loadTools } from "../../src/tools/load-tools.js";
import { board } from "../../src/view/board/board.js";
import { explore } from "../../src/view/explorer/explore.js";
import { readRunFolder } from "../../src/view/board/read-folder.js";
import { until } from "../until.js";
import {
  cpuEnvironment,
  experimentIn,
  onCpu,
  ownCluster,
  root,
  verlMissing,
  verlPython,
} from "./verl-cpu.js";

const python = verlPython;
const skip = verlMissing;

test("losses and advantages are our golden cases, through verl's own registry", { skip }, () => {
  const script = join(root, "tests/python/check_verl_registry.py");
  const { status, stdout, stderr } = spawnSync(python!, [script, root], { encoding: "utf8" });
  assert.equal(status, 0, stderr);
  assert.deepEqual(JSON.parse(stdout.trim().split("\n").at(-1)!), {
    vanilla: 4,
    aepo_clipping: 4,
    ...{ "actor aepo": 3, "actor aepo_clipping": 2, "actor aepo_advantage": 2, refused: 5 },
    grpo: 14,
  });
});

test("the tasks of a job folder are those that parquet's own reader finds", { skip }, async (t) => {
  const folder = await mkdtemp(join(tmpdir(), "arpo-lab-verl-"));
  t.after(() => rm(folder, { recursive: true }));
  const several = [
    { id: "a", prompt: "1+1?", answer: ["2", "two"], data_source: "mine" },
    { id: "b", prompt: "2+2?", answer: "4", data_source: "mine" },
  ];
  const file = join(folder, "tasks.jsonl");
  await writeFile(file, several.map((one) => `${JSON.stringify(one)}\n`).join(""));
  for (const [i, from] of ["tasks:calc?train=3", file].entries()) {
    const job = join(folder, String(i));
    const data = [`data.train_files=${from}`, "data.val_files=tasks:calc?test=1"];
    const tools = { python: "calculator", search: "calculator" };
    await exportVerl({ preset: "arpo", overrides: data }, job, { tools });
    const { config } = await loadConfig({ preset: "arpo", overrides: data });
    const tasks = await tasksOf(config.data.train_files, "train", config);
    const read =
      "import json, sys, pyarrow.parquet as p; print(json.dumps(p.read_table(sys.argv[1]).to_pylist()))";
    const args = ["-c", read, join(job, "train.parquet")];
    const { stdout, stderr } = spawnSync(python!, args, { encoding: "utf8" });
    const lists = tasks.some(({ groundTruth }) => Array.isArray(groundTruth));
    const wanted = tasks.map(({ prompt, groundTruth, dataSource, id, extra }, index) => ({
      ...{ data_source: dataSource, prompt },
      reward_model: { style: "rule", ground_truth: lists ? [groundTruth].flat() : groundTruth },
      extra_info: { index, id, extra: JSON.stringify(extra) },
      agent_name: "arpo_tree",
    }));
    assert.equal(lists, i === 1);
    assert.deepEqual(JSON.parse(stdout), JSON.parse(JSON.stringify(wanted)), stderr);
  }
});

test(
  "verl trains two steps with our tree; the trees are those of our own rollout",
  { skip },
  async (t) => {
    const folder = await mkdtemp(join(tmpdir(), "arpo-lab-verl-"));
    t.after(() => rm(folder, { recursive: true, maxRetries: 20, retryDelay: 200 }));
    const job = join(folder, "job");
    const { experiment, own } = await experimentIn(folder);
    await exportVerl(experiment, job, {
      tools: { search: "calculator" },
      package: root,
      seeded: true,
    });

    // Its own session, so that all of Ray can be ended with it.
    const run = spawn("sh", [join(job, "run.sh"), ...onCpu, ...ownCluster], {
      detached: true,
      stdio: ["ignore", "pipe", "pipe"],
      env: {
        ...process.env,
        ...cpuEnvironment(python!),
        ...{ RAY_AUTH_MODE: "disabled", RAY_USAGE_STATS_ENABLED: "0", RAY_TMPDIR: folder },
      },
    });
    t.after(() => {
      try {
        process.kill(-run.pid!, "SIGKILL");
      } catch {
        // All of it has ended.
      }
    });
    let said = "";
    for (const stream of [run.stdout, run.stderr])
      stream.on("data", (text) => (said += String(text)));
    const [status] = (await once(run, "exit")) as [number | null];
    assert.equal(status, 0, said.slice(-5000));

    const read = await readVerlRun(job, join(folder, "run"));
    assert.deepEqual([read.steps, read.trees], [2, 8]);
    assert.match(read.entropyMeaning, /top log-probabilities/);
    const { config } = await loadConfig({ files: [join(job, "config.yaml")] });
    const record = await readRunFolder("verl", read.folder);
    for (const { step, path } of record.trees) {
      const trees = await loadTrees(path!);
      // Every trajectory was rewarded, and the figure is their mean.
      const scores = trees.flatMap(({ trajectories: rows }) =>
        rows.map(({ outcome }) => outcome!.score!),
      );
      const mean = scores.reduce((sum, score) => sum + score, 0) / scores.length;
      const figure = record.lines.find((line) => line.step === step)!["critic/score/mean"];
      assert.ok(Math.abs(Number(figure) - mean) < 1e-6, `${String(figure)} against ${mean}`);

      // The same server with the same weights, asked by our own rollout with the tree's own draws.
      const weights = join(job, "results/weights", String(step - 1));
      const server = spawn(python!, [
        join(root, "tests/python/verl_cpu/serve_like_vllm.py"),
        weights,
      ]);
      t.after(() => server.kill("SIGKILL"));
      let port = "";
      server.stdout.on("data", (text) => (port += String(text)));
      await until(() => port.endsWith("\n"), "the server says its port", 600_000);
      const policy = new RemotePolicy({
        urls: [`http://127.0.0.1:${port.trim()}/v1`],
        ...{ model: "tiny", contextLength: 512, concurrency: 1 },
        tokenizer: await HfTokenizer.load(join(root, "data/models/tiny")),
      });
      for (const tree of trees) {
        const ours = await rollout(policy, tree.task, {
          ...rolloutOptions(config),
          ...{ scheduling: "lockstep", seed: tree.config.seed },
          tools: await loadTools({ tool_instances: { python: { class_path: own.tool } } }),
        });
        const shape = (one: typeof ours) => ({
          prompt: [...one.prompt.tokens],
          rows: one.trajectories.map(({ kind, round, parent, from, leaf, end, calls }) => ({
            ...{ kind, round, parent, from, leaf, end, calls },
          })),
          nodes: one.nodes.map(({ parent, kind, tokens, branch }) => ({
            ...{ parent, kind, tokens: [...tokens] },
            branch: branch?.map(({ u, child }) => ({ u, child })),
          })),
          trajectories: one.selected.map(({ tokens, written }) => [[...tokens], [...written]]),
        });
        assert.deepEqual(shape(tree as typeof ours), shape(ours));
        const { trajectories: rows } = await score(ours, await loadReward(own.reward, "judge"));
        assert.deepEqual(
          tree.trajectories.map(({ outcome }) => [outcome!.score!.toFixed(5), outcome!.reason]),
          rows.map((row) => [row.score.score.toFixed(5), row.score.reason]),
        );
      }
      server.kill("SIGKILL");
    }
    assert.ok(board(read.folder) && explore((await loadTrees(record.trees[0]!.path!))[0]!));
  },
);
