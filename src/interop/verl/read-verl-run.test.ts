import assert from "node:assert/strict";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { loadTrees } from "../../rollout/files/tree-files.js";
import { rollout } from "../../rollout/rollout.js";
import { randomTextPolicy } from "../../rollout/testing/random-text-policy.js";
import { readRunFolder } from "../../view/board/read-folder.js";
import { exportVerl } from "./export-verl.js";
import { readVerlRun } from "./read-verl-run.js";
import type { TreeNode } from "../../rollout/tree/tree-values.js";
import { recordOf } from "./testing/record-of.js";

const prompt = [{ role: "user", content: "6*7?" }];
const branching = { beamSize: 2, branchProbability: 0.9, entropyWeight: 0.2 };
const settings = { n: 8, initialRollouts: 2, seed: 5, ...branching };
const kinds = {
  arpo: { settings, overrides: ["actor_rollout_ref.rollout.branch_probability=0.9"] },
  aepo: {
    settings: { ...settings, rule: "aepo-code", branchProbability: 0.1, dynamicRollouts: true },
    overrides: [
      "actor_rollout_ref.rollout.enable_dynamic_rollouts=true",
      "actor_rollout_ref.rollout.branch_probability=0.1",
    ],
  },
} as const;

async function jobFolder(t: TestContext, kind: keyof typeof kinds = "arpo"): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "arpo-lab-verl-"));
  t.after(() => rm(folder, { recursive: true }));
  const job = join(folder, "job");
  const data = ["data.train_files=tasks:calc?train=2", "data.val_files=tasks:calc?test=1"];
  const overrides = [...data, ...kinds[kind].overrides];
  await exportVerl({ preset: kind, overrides }, job, { tools: { python: "calculator" } });
  await mkdir(join(job, "results/trees"), { recursive: true });
  await mkdir(join(job, "results/rollouts"));
  return job;
}

const jsonLines = (values: readonly unknown[]) =>
  values.map((value) => `${JSON.stringify(value)}\n`).join("");

for (const kind of ["arpo", "aepo"] as const) {
  test(`readVerlRun() gives ${kind}'s trees that grew there, with their scores, and the board reads them`, async (t) => {
    const job = await jobFolder(t, kind);
    const trees = await rollout(randomTextPolicy(), [{ prompt }, { prompt }], kinds[kind].settings);
    assert.ok(
      trees.some(({ nodes }) => nodes.some(({ branch = [] }) => branch.some((one) => one.branch))),
    );
    const rows = trees.flatMap((tree, i) =>
      tree.trajectories.map(({ id }) => ({ uid: `tree-${i}_${id}_0`, score: id / 8 })),
    );
    const records = trees.map((tree, i) => recordOf(tree, 1, i));
    await writeFile(join(job, "results/trees/a-1.jsonl"), jsonLines([records[1]]));
    // The last line is still being written.
    await writeFile(join(job, "results/trees/b-2.jsonl"), `${jsonLines([records[0]])}{"uid": "x`);
    await writeFile(join(job, "results/rollouts/1.jsonl"), jsonLines(rows));
    const line = { step: 1, data: { "critic/score/mean": 0.25, "a/word": "x" } };
    await writeFile(join(job, "results/metrics-1.jsonl"), jsonLines([line]));
    const run = join(job, "../run");
    const read = await readVerlRun(job, run);
    assert.deepEqual([read.steps, read.trees], [1, 2]);
    assert.match(read.entropyMeaning, /surprisal/);
    const back = await loadTrees(join(run, "rollouts/1.jsonl"));
    for (const [i, tree] of back.entries()) {
      const grown = trees[i]!;
      const shape = ({ branch, top, run, entropies, ...node }: TreeNode, told: boolean) => ({
        ...node,
        // What verl does not tell: alternatives, times, single tokens' entropies.
        unknown: told ? [undefined, undefined, entropies.length] : [top, run, entropies.length],
        children: branch?.map(({ child, u, score, branch: did }) => [child, u, score, did]),
      });
      assert.deepEqual(
        tree.nodes.map((node) => shape(node, false)),
        grown.nodes.map((node) => shape(node, true)),
      );
      assert.ok(tree.nodes.every(({ entropies }) => entropies.every(Number.isNaN)));
      assert.deepEqual(
        tree.trajectories.map(({ parent, from, leaf }) => [parent, from, leaf]),
        grown.trajectories.map(({ parent, from, leaf }) => [parent, from, leaf]),
      );
      assert.deepEqual(
        tree.trajectories.map(({ outcome }) => outcome?.score),
        grown.trajectories.map(({ id }) => id / 8),
      );
      assert.equal(tree.config.seed, grown.config.seed);
      // verl does not tell what AEPO's probes cost.
      const monitor = grown.monitor && { ...grown.monitor };
      delete monitor?.spent;
      assert.deepEqual(tree.monitor, monitor);
    }
    const record = await readRunFolder("verl", run);
    assert.deepEqual(record.lines, [{ step: 1, "critic/score/mean": 0.25 }]);
    assert.equal(record.trees[0]!.step, 1);
  });
}

test("a run that went on on verl replaces the steps that it made again", async (t) => {
  const job = await jobFolder(t);
  const line = (step: number, mean: number) => ({ step, data: { "critic/score/mean": mean } });
  const first = jsonLines([line(1, 0.1), line(2, 0.2)]);
  await writeFile(join(job, "results/metrics-10.jsonl"), first);
  await writeFile(join(job, "results/metrics-20.jsonl"), jsonLines([line(2, 0.5), line(3, 0.6)]));
  const run = join(job, "../run");
  assert.equal((await readVerlRun(job, run)).steps, 3);
  const lines = (await readFile(join(run, "metrics.jsonl"), "utf8")).trim().split("\n");
  assert.deepEqual(
    lines.map((text) => JSON.parse(text) as unknown),
    [0.1, 0.5, 0.6].map((mean, i) => ({ step: i + 1, "critic/score/mean": mean })),
  );
});

test("readVerlRun() refuses a folder that was not exported and lines that nobody of both wrote", async (t) => {
  const job = await jobFolder(t);
  const run = join(job, "../run");
  await assert.rejects(readVerlRun(join(job, "results"), run), /was exported for it/);
  await writeFile(join(job, "results/trees/a.jsonl"), '{"uid": 3}\n');
  await assert.rejects(readVerlRun(job, run), /line 1 of .*a\.jsonl must be as verl/);
});
