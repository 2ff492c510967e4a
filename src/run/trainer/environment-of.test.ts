import assert from "node:assert/strict";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { environments } from "../../tasks/environments/index.js";
import { Maze } from "../../tasks/environments/maze.js";
import { Model } from "../../model/transformer/transformer.js";
import type { Policy } from "../../policy/policies.js";
import { ScriptedPolicy } from "../../rollout/testing/scripted-policy.js";
import { environmentReward } from "../../reward/rewards/environment.js";
import { ToolSet } from "../../tools/tool-set.js";
import { loadConfig } from "../config/load.js";
import { environmentOf } from "./environment-of.js";
import { assemble } from "./assemble.js";
import { train } from "./train.js";
import { trainOn } from "./train-cells.js";

/** A model to be trained, and a wanderer that acts in its place: its log-probabilities are the model's. */
function wanderer() {
  const sizes = { vocabSize: 256, hiddenSize: 8, intermediateSize: 16, layers: 1, heads: 2 };
  const policy = new ScriptedPolicy(({ text, options: { random } }) => {
    const open = [...text.matchAll(/At \w\d: ([nesw ]+)/g)].at(-1)![1]!.split(" ");
    return { text: `<go>${random.choose(open)}</go>`, confidence: 0.3 + 0.7 * random.uniform() };
  });
  const model = Model.init({ ...sizes, contextLength: 1024 }, 1);
  return Object.assign(policy, { model, dispose: () => model.dispose() }) as unknown as Policy & {
    readonly model: Model;
  };
}

test("trainOn() acts in the environment of its family, and is rewarded by it", async () => {
  const policy = wanderer();
  const set = environments.maze({ train: 4, test: 2, size: 2 });
  const options = { steps: 3, prompts: 2, n: 8, live: false, testEvery: 3 };
  const { steps, validation } = await trainOn(policy, set, options);
  assert.equal(steps.length, 3);
  const ends = steps.flatMap(({ scored }) =>
    scored.trajectories.map(({ trajectory }) => trajectory.end),
  );
  assert.ok(ends.includes("done"), ends.join());
  for (const { trees, scored, metrics } of steps) {
    assert.ok(trees.every(({ environment }) => environment?.name === "Maze"));
    for (const { trajectory, score } of scored.trajectories) {
      assert.equal(score.score, Number(trajectory.end === "done"));
    }
    assert.ok(metrics["tools/go/calls"]! > 0 && Number.isFinite(metrics["actor/pg_loss"]));
    assert.ok(metrics["reward/calls/mean"] !== undefined);
  }
  assert.ok("val-core/maze/reward/mean@1" in validation.at(-1)!.metrics);
  policy.model.dispose();
});

test("a run in an environment that is stopped and resumed ends as one that was not", async () => {
  const folder = await mkdtemp(join(tmpdir(), "acting-"));
  const { config } = await loadConfig({
    preset: ["arpo", "tiny"],
    overrides: [
      ...["data.train_batch_size=2", "actor_rollout_ref.actor.ppo_mini_batch_size=2"],
      ...["actor_rollout_ref.rollout.n=4", "actor_rollout_ref.rollout.initial_rollouts=2"],
      ...["actor_rollout_ref.rollout.tools.call_limit=8", "data.max_response_length=300"],
      ...[
        "trainer.total_training_steps=2",
        "trainer.save_freq=1",
        "trainer.val_before_train=false",
      ],
    ],
  });
  const { train: tasks, test: validation } = environments.maze({ train: 4, test: 1, size: 2 });
  const run = async (name: string, stopAt?: number) => {
    const stop = new AbortController();
    const policy = wanderer();
    const parts = {
      ...{ config, policy, tools: new ToolSet(), environment: Maze, reward: environmentReward },
      ...{ train: tasks, validation },
    };
    const done = train(parts, {
      folder: join(folder, name),
      stopping: stop.signal,
      onStep: ({ step }) => {
        if (step === stopAt) stop.abort(new Error("for now"));
      },
    });
    await (stopAt === undefined ? done : assert.rejects(done, /for now/));
    policy.model.dispose();
  };
  try {
    await run("whole");
    await run("parted", 1);
    await run("parted");
    for (const file of ["metrics.jsonl", "rollouts/2.jsonl"]) {
      const [whole, parted] = await Promise.all(
        ["whole", "parted"].map((name) => readFile(join(folder, name, file), "utf8")),
      );
      const without = (text?: string) => text!.replace(/"run":\{[^}]*\}/g, "");
      assert.equal(without(parted), without(whole), file);
    }
  } finally {
    await rm(folder, { recursive: true });
  }
});

test("a configuration names an environment: by its tasks, its name or its file", async () => {
  const folder = await mkdtemp(join(tmpdir(), "world-"));
  const of = async (...overrides: string[]) =>
    environmentOf((await loadConfig({ overrides })).config);
  try {
    const file = join(folder, "door.ts");
    await writeFile(
      file,
      `import type { Environment } from "arpo-lab/tools";
      export class Door implements Environment {
        tools = { push: "Pushes it." };
        reset(): string { return "A door."; }
        push(): string { return "It opens."; }
      }
      export default () => new Door();
      export const odd = { push: 5 };`,
    );
    assert.equal((await of(`data.environment=${file}#Door`))!.name, "Door");
    assert.equal(typeof (await of(`data.environment=${file}`)), "function");
    await assert.rejects(
      of(`data.environment=${file}#odd`),
      /must export a class or a function odd/,
    );
    await assert.rejects(
      of("data.environment=./none.ts"),
      /Cannot (use an environment|load the configuration)/,
    );
    await assert.rejects(
      of("data.train_files=tasks:maze,calc"),
      /all tasks of a run must be of the same one, got maze, calc/,
    );
    const { config } = await loadConfig({
      preset: ["arpo", "tiny"],
      overrides: [
        "data.train_files=tasks:shop?train=3",
        "data.val_files=tasks:shop?test=2&things=1",
      ],
    });
    const { environment, tools, reward, policy, train: tasks } = await assemble(config);
    assert.deepEqual([environment!.name, tools.tags, reward], ["Shop", [], environmentReward]);
    assert.equal(tasks.length, 3);
    policy.model.dispose();
  } finally {
    await rm(folder, { recursive: true });
  }
});
