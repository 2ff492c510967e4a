import assert from "node:assert/strict";
import { readFile, readdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { groupReward } from "../../reward/reward-function.js";
import { metricMeaning } from "../../../tests/docs/reference-pages.js";
import { train, type TrainOptions } from "./train.js";
import type { Logger } from "../loggers/logger.js";
import { smallParts as parts, runBytes as bytes } from "./testing/small-run.js";
import type { TrainerParts, TrainerStep } from "./trainer.js";
import { temporaryFolder } from "../../../tests/temporary.js";

const folder = () => temporaryFolder("arpo-lab-run");

async function run(path: string, overrides: string[] = [], options: Partial<TrainOptions> = {}) {
  const made = await parts(overrides);
  const steps: TrainerStep[] = [];
  const trainer = await train(made, {
    folder: path,
    ...options,
    onStep: async (step) => {
      steps.push(step);
      await options.onStep?.(step);
    },
  });
  return { trainer, steps };
}

test("train() writes what it found in a step's rollouts, and forgets what came behind a checkpoint", async () => {
  const path = await folder();
  const made = await parts(["trainer.save_freq=2"]);
  const found: object[] = [];
  const stop = new AbortController();
  const ended = train(
    { ...made, reward: () => 1 },
    {
      folder: path,
      stopping: stop.signal,
      onStep: ({ step, findings }) => {
        for (const { kind, title, message, where } of findings)
          found.push({ step, kind, title, message, where });
        if (step === 3) stop.abort(new Error("enough"));
      },
    },
  );
  await assert.rejects(ended, /enough/);
  const lines = async () =>
    (await readFile(join(path, "findings.jsonl"), "utf8"))
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as { step: number });
  const first = await lines();
  assert.deepEqual(first, JSON.parse(JSON.stringify(found)));
  assert.deepEqual([...new Set(first.map(({ step }) => step))], [1, 2, 3]);
  // It goes on from step 2 as if step 3 had not been.
  await rm(join(path, "global_step_3"), { recursive: true });
  await train({ ...(await parts(["trainer.save_freq=2"])), reward: () => 1 }, { folder: path });
  const steps = (await lines()).map(({ step }) => step);
  assert.deepEqual([...new Set(steps)], [1, 2, 3, 4]);
  assert.equal(
    steps.filter((step) => step === 3).length,
    first.filter(({ step }) => step === 3).length,
  );
});

test("train() writes configuration, metrics, rollouts and whole checkpoints", async () => {
  const path = await folder();
  const { steps } = await run(path);
  assert.deepEqual(
    steps.map((s) => s.step),
    [1, 2, 3, 4],
  );
  const [first] = steps;
  assert.equal(first!.trees.length, 2);
  assert.equal(first!.batch.trajectories.length, 6);
  for (const name of [
    "actor/pg_loss",
    "critic/score/mean",
    "tools/total_calls",
    "response_length/mean",
  ]) {
    assert.ok(Number.isFinite(first!.metrics[name]), name);
  }
  const names = await readdir(path);
  for (const name of ["config.yaml", "metrics.jsonl", "global_step_2", "global_step_4"]) {
    assert.ok(names.includes(name), name);
  }
  assert.equal(await readFile(join(path, "latest_checkpointed_iteration.txt"), "utf8"), "4");
  assert.equal((await readdir(join(path, "rollouts"))).length, 4);
  const lines = (await readFile(join(path, "metrics.jsonl"), "utf8")).trim().split("\n");
  assert.equal(lines.length, 5);
  assert.ok("val-core/calc/reward/mean@1" in JSON.parse(lines[0]!));
  const written = lines.flatMap((line) => Object.keys(JSON.parse(line) as object));
  assert.deepEqual(
    [...new Set(written)].filter((name) => name !== "step" && !metricMeaning(name)),
    [],
  );
});

test("train() stopped at any step and resumed ends with the same bytes", async () => {
  const whole = await folder();
  await run(whole);
  const expected = await bytes(whole);
  assert.ok(Object.keys(expected).length > 3);
  for (const stop of [1, 2, 3]) {
    const path = await folder();
    const stopped = run(path, [], {
      onStep: ({ step }) => {
        if (step === stop + 1) throw new Error("pulled the plug");
      },
    });
    await assert.rejects(stopped, /pulled the plug/);
    const { steps } = await run(path);
    assert.equal(steps[0]!.step, stop >= 2 ? 3 : 1);
    assert.deepEqual(await bytes(path), expected);
  }
});

test("train() told to stop finishes and saves its step, and continues to the same bytes", async () => {
  const [whole, stopped] = [await folder(), await folder()];
  await run(whole);
  const stop = new AbortController();
  const onStep = ({ step }: TrainerStep) => {
    if (step === 1) stop.abort(new Error("that is enough"));
  };
  await assert.rejects(run(stopped, [], { onStep, stopping: stop.signal }), /that is enough/);
  // Step 1 is no step of save_freq: it was saved because the run was to stop.
  assert.ok((await readdir(stopped)).includes("global_step_1"));
  const { steps } = await run(stopped);
  assert.deepEqual(
    steps.map(({ step }) => step),
    [2, 3, 4],
  );
  assert.deepEqual(await bytes(stopped), await bytes(whole));
});

test("train() learns with every estimator, with KL in reward and loss", async () => {
  for (const estimator of [
    "gae",
    "rloo",
    "remax",
    "reinforce_plus_plus",
    "opo",
    "grpo_passk",
    "gpg",
    "treerl",
    "tree_grpo",
  ]) {
    const { steps } = await run(await folder(), [
      `algorithm.adv_estimator=${estimator}`,
      "trainer.total_training_steps=1",
      "trainer.val_before_train=false",
    ]);
    const { metrics, timing } = steps[0]!;
    for (const name of Object.keys({ ...metrics, ...timing })) {
      assert.ok(metricMeaning(name), `${name} must have a written meaning`);
    }
    assert.ok(Number.isFinite(metrics["actor/grad_norm"]), estimator);
    assert.equal("critic/vf_loss" in metrics, estimator === "gae");
  }
  await assert.rejects(
    run(await folder(), ["algorithm.use_kl_in_reward=true"]),
    /a reference model must be given/,
  );
});

test("train() keeps the last checkpoints and the best one, and warns about flat rewards", async () => {
  const path = await folder();
  const warnings: string[] = [];
  const made = await parts(["trainer.save_freq=1", "trainer.max_actor_ckpt_to_keep=1"]);
  let value = 2;
  await train(
    { ...made, reward: () => (value = value * 0 + 0.5) },
    { folder: path, warn: (message) => warnings.push(message) },
  );
  const kept = (await readdir(path)).filter((n) => n.startsWith("global_step_")).sort();
  assert.deepEqual(kept, ["global_step_2", "global_step_4"]);
  assert.match(warnings[0]!, /Every trajectory of each prompt has the same reward/);
});

test("train() says that words cannot be spelled and that the first steps taught nothing, once", async () => {
  const made = await parts(["trainer.val_before_train=false", "trainer.test_freq=-1"]);
  const warningsOf = async (reward: TrainerParts["reward"], { train: questions } = made) => {
    const warnings: string[] = [];
    await train(
      { ...(await parts(["trainer.test_freq=-1"])), reward, train: questions },
      { folder: await folder(), warn: (message) => warnings.push(message) },
    );
    return warnings.filter((text) => /smollm2/.test(text));
  };
  const content = "How many grams of flour does the baker weigh for twelve guests, please?";
  const own = made.train.map((task) => ({ ...task, prompt: [{ role: "user" as const, content }] }));
  const told = await warningsOf(() => 0, { ...made, train: own });
  assert.equal(told.length, 2);
  assert.match(told[0]!, /cuts \d+% of the \d+ words/);
  assert.match(
    told[1]!,
    /no learning signal in the first 3 steps: .* equal \(mean 0\.00 in step 3\)/,
  );
  assert.deepEqual(await warningsOf(made.reward), []);
  // Every second prompt teaches something.
  let tells = false;
  const half = groupReward((all) => ((tells = !tells), all.map((_, i) => (tells ? i : 0))));
  assert.deepEqual(await warningsOf(half), []);
});

test("train() names what keeps it from saving or resuming", async () => {
  const path = await folder();
  await writeFile(join(path, "file"), "in the way");
  await assert.rejects(
    run(path, ["trainer.resume_mode=resume_path", `trainer.resume_from_path=${path}/none`]),
    /must be a checkpoint of this program/,
  );
  await assert.rejects(run(join(path, "file")), /Cannot open the run folder .*EEXIST|ENOTDIR/);
  const failing = await parts();
  const outcomes: string[] = [];
  const listener: Logger = {
    name: "listener",
    log: () => undefined,
    close: (outcome) => void outcomes.push(outcome),
  };
  await assert.rejects(
    train(
      {
        ...failing,
        reward: () => {
          throw new Error("no luck");
        },
      },
      { folder: path, loggers: [listener] },
    ),
    /Cannot score task calc-.*: the reward threw no luck/,
  );
  assert.deepEqual(outcomes, ["failed"]);
  // The folder is free again for one that goes better, and while it runs for nobody else.
  const short = ["trainer.total_training_steps=1", "trainer.val_before_train=false"];
  const again: string[] = [];
  const onStep = () =>
    run(path, short).then(
      () => assert.fail("two may not train in one folder"),
      (error: Error) => void again.push(error.message),
    );
  await run(path, short, { onStep, loggers: [listener] });
  assert.match(again.join(), /one process may write it, got two/);
  assert.deepEqual(outcomes, ["failed", "finished"]);
  assert.ok(!(await readdir(path)).includes("run.lock"));
});
