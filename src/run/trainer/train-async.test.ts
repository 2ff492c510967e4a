import assert from "node:assert/strict";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { metricMeaning } from "../../../tests/docs/reference-pages.js";
import { temporaryFolder } from "../../../tests/temporary.js";
import { loadTrees } from "../../rollout/files/tree-files.js";
import { runBytes as bytes, smallParts } from "./testing/small-run.js";
import { train, type TrainOptions } from "./train.js";
import { Trainer, type TrainerStep } from "./trainer.js";

const folder = () => temporaryFolder("arpo-lab-async");

async function run(path: string, overrides: string[], options: Partial<TrainOptions> = {}) {
  const steps: TrainerStep[] = [];
  const trainer = await train(await smallParts(overrides), {
    ...{ folder: path, ...options },
    onStep: async (step) => {
      steps.push(step);
      await options.onStep?.(step);
    },
  });
  return { trainer, steps };
}

/** The version that sampled each step's trajectories, and how old they were. */
const versions = (steps: readonly TrainerStep[]) =>
  steps.map(({ trees, metrics, batch }) => {
    assert.ok(trees.every(({ version }) => version === trees[0]!.version));
    const { age } = batch;
    assert.deepEqual([age!.mean, age!.max], [metrics["staleness/age/mean"], age!.max]);
    return [trees[0]!.version, metrics["staleness/age/max"]];
  });

test("train() with async draws each batch by weights so many updates old", async () => {
  const path = await folder();
  const { steps } = await run(path, ["lab.async=2"]);
  assert.deepEqual(versions(steps), [
    [0, 0],
    [0, 1],
    [0, 2],
    [1, 2],
  ]);
  const waiting = steps.map(({ metrics }) => metrics["staleness/waiting"]);
  assert.deepEqual(waiting, [2, 2, 1, 0]);
  const [fresh, , old] = steps.map(({ metrics }) => metrics);
  assert.equal(fresh!["staleness/ratio/mean"], 1);
  assert.ok(!("rollout_corr/k3_kl" in fresh!));
  assert.ok(old!["staleness/effective_trajectories"]! < 1);
  assert.ok(old!["rollout_corr/k3_kl"]! > 0);
  for (const name of Object.keys(old!)) assert.ok(metricMeaning(name), name);
  const [tree] = await loadTrees(join(path, "rollouts/4.jsonl"));
  assert.equal(tree!.version, 1);
  assert.ok(tree!.trajectories[0]!.versions!.every((v) => v === 1 || v === -1));
});

test("train() with async draws the same first batches as without, and then others", async () => {
  const [{ steps: sync }, { steps: stale }] = await Promise.all([
    run(await folder(), []),
    run(await folder(), ["lab.async=1"]),
  ]);
  const tokens = ({ trees }: TrainerStep) => trees.flatMap(({ nodes }) => nodes.map((n) => n.text));
  assert.deepEqual(tokens(sync[0]!), tokens(stale[0]!));
  assert.notDeepEqual(tokens(sync[2]!), tokens(stale[2]!));
  const tasks = ({ trees }: TrainerStep) => trees.map(({ task }) => task);
  assert.deepEqual(sync.map(tasks), stale.map(tasks));
});

for (const overrides of [
  ["lab.async=2"],
  ["async_training.trigger_parameter_sync_step=2", "async_training.staleness_threshold=0.5"],
  ["lab.async=3", "lab.staleness_limit=prime-rl-async", "lab.max_staleness=1"],
]) {
  test(`train() with ${overrides.join(" ")} ends with the same bytes, stopped or not`, async () => {
    const [whole, again] = [await folder(), await folder()];
    await run(whole, overrides);
    await run(again, overrides);
    const expected = await bytes(whole);
    assert.deepEqual(await bytes(again), expected);
    for (const stop of [2, 3]) {
      const path = await folder();
      const stopped = run(path, [...overrides, "trainer.save_freq=1"], {
        onStep: ({ step }) => {
          if (step === stop + 1) throw new Error("pulled the plug");
        },
      });
      await assert.rejects(stopped, /pulled the plug/);
      const files = await readdir(join(path, `global_step_${stop}`));
      assert.ok(files.includes("waiting.jsonl"));
      const { steps } = await run(path, overrides);
      assert.equal(steps[0]!.step, stop + 1);
      assert.deepEqual(await bytes(path), expected);
    }
  });
}

test("a Trainer goes on from the state of another with the batches that wait", async () => {
  const parts = await smallParts(["lab.async=1"]);
  const first = new Trainer(parts);
  await first.next();
  const state = first.state();
  assert.deepEqual(
    state.waiting!.map(({ number, version }) => [number, version]),
    [[2, 0]],
  );
  const step = await new Trainer(parts, state).next();
  assert.equal(step.metrics["staleness/age/max"], 1);
});

test("train() samples with the weights of every so many updates", async () => {
  const { steps } = await run(await folder(), ["async_training.trigger_parameter_sync_step=2"]);
  assert.deepEqual(versions(steps), [
    [0, 0],
    [0, 1],
    [2, 0],
    [2, 1],
  ]);
});

test("train() drops what is older than a bound, and says what that cost", async () => {
  const drops = ["lab.async=3", "lab.staleness_limit=prime-rl-async", "lab.max_staleness=1"];
  const { steps } = await run(await folder(), drops);
  assert.deepEqual(versions(steps), [
    [0, 0],
    [0, 1],
    [2, 0],
    [2, 1],
  ]);
  assert.deepEqual(
    steps.map(({ metrics }) => metrics["staleness/dropped"]),
    [0, 0, 2, 0],
  );
  assert.equal(steps.at(-1)!.metrics["cost/trajectories"], 6 * 6);
});

test("train() corrects stale rollouts unless it is told not to", async () => {
  const runs = await Promise.all(
    [[], ["lab.correct_sampler=false"], ["algorithm.rollout_correction.bypass_mode=true"]].map(
      async (more) => run(await folder(), ["lab.async=2", ...more]),
    ),
  );
  const [corrected, measured, bypassed] = runs.map(({ steps }) => steps[2]!);
  const weights = ({ batch }: TrainerStep) => batch.trajectories[0]!.rolloutWeights;
  assert.ok(weights(corrected!)!.some((w) => w !== 0 && w !== 1));
  assert.equal(weights(measured!), undefined);
  assert.ok("rollout_corr/k3_kl" in measured!.metrics);
  assert.equal(bypassed!.batch.trajectories[0]!.oldFrom, "sampler");
  assert.ok(bypassed!.metrics["staleness/ratio/mean"]! > 0);
});
