import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { metricMeaning } from "../../../tests/docs/reference-pages.js";
import { runBytes, smallParts } from "./testing/small-run.js";
import { train, type TrainOptions } from "./train.js";
import type { TrainerStep } from "./trainer.js";

const filter = [
  "algorithm.filter_groups.enable=true",
  "algorithm.filter_groups.metric=seq_reward",
  "trainer.test_freq=-1",
  "trainer.val_before_train=false",
];

/** A run whose prompts are all the same in two of three cases. */
async function run(path: string, overrides: string[] = [], options: Partial<TrainOptions> = {}) {
  const parts = await smallParts([...filter, ...overrides]);
  const steps: TrainerStep[] = [];
  const reward: typeof parts.reward = ({ length, prompt }) =>
    prompt.question.length % 3 === 0 ? length % 5 : 1;
  await train(
    { ...parts, reward },
    {
      folder: path,
      ...options,
      onStep: async (step) => {
        steps.push(step);
        await options.onStep?.(step);
      },
    },
  );
  return steps;
}

test("the group filter rolls out until the batch is full, and resumes to the same bytes", async (t) => {
  const [whole, broken] = await Promise.all(
    ["whole", "broken"].map((name) => mkdtemp(join(tmpdir(), `arpo-filter-${name}-`))),
  );
  t.after(() => Promise.all([whole!, broken!].map((path) => rm(path, { recursive: true }))));
  const steps = await run(whole!);
  let again = 0;
  for (const { trees, scored, batch, metrics } of steps) {
    assert.equal(trees.length, 2);
    assert.equal(batch.trajectories.length, 6);
    for (const { index } of trees) {
      const scores = scored.trajectories.filter((r) => r.trajectory.tree === index);
      assert.equal(scores.length, 3);
      assert.ok(new Set(scores.map(({ score }) => score.score)).size > 1);
    }
    assert.equal(metrics["tree/mixed_outcome_ratio"] !== undefined, true);
    const [batches, generated] = [metrics["train/num_gen_batches"]!, metrics["filter/generated"]!];
    assert.equal(generated, batches * 2);
    assert.equal(metrics["filter/dropped"]! + metrics["filter/surplus"]! + 2, generated);
    if (batches > 1) again++;
    for (const name of Object.keys(metrics))
      assert.ok(metricMeaning(name), `${name} has a meaning`);
  }
  assert.ok(again > 0);

  const stop = new Error("killed");
  await assert.rejects(
    run(broken!, [], {
      onStep: ({ step }) => {
        if (step === 4) throw stop;
      },
    }),
    stop,
  );
  await run(broken!);
  assert.deepEqual(await runBytes(broken!), await runBytes(whole!));
});

test("the group filter ends a run that cannot fill its batch, and says what was missing", async (t) => {
  const path = await mkdtemp(join(tmpdir(), "arpo-filter-limit-"));
  t.after(() => rm(path, { recursive: true }));
  const limited = (metric: string) =>
    smallParts([
      ...filter,
      `algorithm.filter_groups.metric=${metric}`,
      "algorithm.filter_groups.max_num_gen_batches=2",
    ]);
  const same = await limited("acc");
  await assert.rejects(
    train({ ...same, reward: () => 1 }, { folder: path }),
    /2 batches \(algorithm\.filter_groups\.max_num_gen_batches\) must hold 2 prompts whose trajectories differ in acc, got 0/,
  );
  const odd = await limited("style");
  await assert.rejects(
    train(odd, { folder: path }),
    /algorithm\.filter_groups\.metric must be acc, seq_reward.* got style/,
  );
});
