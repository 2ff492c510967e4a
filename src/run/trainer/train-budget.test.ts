import assert from "node:assert/strict";
import { cp, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { temporaryFolder } from "../../../tests/temporary.js";
import { tasks } from "../../tasks/tasks/index.js";
import { spentOn } from "../../learn/measures/spent.js";
import { rollout } from "../../rollout/rollout.js";
import { loadConfig } from "../config/load.js";
import { learningRateAt } from "./options.js";
import { runBytes, smallParts } from "./testing/small-run.js";
import { train, type TrainOptions } from "./train.js";
import { trainOn } from "./train-cells.js";
import type { TrainerStep } from "./trainer.js";

const quiet = ["trainer.test_freq=-1", "trainer.val_before_train=false"];

async function run(path: string, overrides: string[], options: Partial<TrainOptions> = {}) {
  const steps: TrainerStep[] = [];
  const onStep = async (step: TrainerStep) => {
    steps.push(step);
    await options.onStep?.(step);
  };
  const parts = await smallParts([...quiet, ...overrides]);
  const trainer = await train(parts, { folder: path, ...options, onStep });
  return { trainer, steps };
}

/** Tokens and calls of a step's trees, counted by hand. */
const counted = ({ trees }: TrainerStep) => {
  const nodes = trees.flatMap((tree) => tree.nodes);
  const drawn = nodes.filter(({ kind }) => kind === "model");
  return {
    tokens: drawn.reduce((sum, { tokens }) => sum + tokens.length, 0),
    calls: nodes.filter(({ tool }) => tool).length,
    trajectories: trees.reduce((sum, tree) => sum + tree.trajectories.length, 0),
  };
};

test("a run ends behind the step that reaches its budget, whatever its steps are", async () => {
  for (const [name, budget] of [
    ["tokens", 180],
    ["trajectories", 14],
  ] as const) {
    const { trainer, steps } = await run(await temporaryFolder("arpo-budget"), [
      `lab.budget.${name}=${budget}`,
      "trainer.total_training_steps=1",
    ]);
    let sum = 0;
    const sums = steps.map((step) => (sum += counted(step)[name]));
    assert.deepEqual(
      steps.map(({ metrics }) => metrics[`cost/${name}`]),
      sums,
    );
    assert.ok(sums.length > 1 && sums.at(-2)! < budget && sums.at(-1)! >= budget, `${sums}`);
    assert.equal(trainer.progress, 1);
    assert.equal(steps.at(-1)!.metrics["training/progress"], 1);
    assert.equal(trainer.cost[name], sum);
  }
});

test("runs with tokens_per_step draw as many tokens a step, however many rows a prompt has", async () => {
  for (const n of [2, 5]) {
    const { steps } = await run(await temporaryFolder("arpo-budget"), [
      "lab.budget.tokens_per_step=150",
      `++actor_rollout_ref.rollout.n=${n}`,
      "trainer.total_training_steps=5",
    ]);
    const prompt = Math.max(...steps.map((s) => counted(s).tokens / s.trees.length));
    for (const { step, metrics, trees } of steps) {
      const off = metrics["cost/tokens"]! - 150 * step;
      assert.ok(Math.abs(off) <= 1.5 * prompt, `n ${n}, step ${step}: ${off} of ${prompt}`);
      const indexes = trees.map(({ index }) => index);
      assert.deepEqual(indexes, [...indexes.keys()]);
      assert.ok(trees.length > 2 || n === 5);
    }
  }
  const filter = ["lab.budget.tokens_per_step=9", "algorithm.filter_groups.enable=true"];
  await assert.rejects(run(await temporaryFolder("arpo-budget"), filter), /must be null with/);
});

test("a run with a budget resumes to the same bytes, and its CPU seconds go on", async () => {
  const settings = [
    "lab.budget.tokens=700",
    "lab.budget.tokens_per_step=150",
    "lab.budget.warmup_tokens=300",
    "lab.budget.test_at_tokens=[160,400]",
    "trainer.save_freq=1",
    "trainer.max_actor_ckpt_to_keep=1",
    "lab.keep_best=false",
  ];
  const whole = await temporaryFolder("arpo-budget");
  const { steps } = await run(whole, settings);
  const lines = (await readFile(join(whole, "metrics.jsonl"), "utf8")).trim().split("\n");
  const tested = lines
    .map((line) => JSON.parse(line) as Record<string, number>)
    .filter((line) => "val-core/calc/reward/mean@1" in line)
    .map((line) => line["cost/tokens"]!);
  const reach = (mark: number) => steps.find(({ metrics }) => metrics["cost/tokens"]! >= mark)!;
  assert.deepEqual(
    tested,
    [160, 400, 700].map((mark) => reach(mark).metrics["cost/tokens"]),
  );
  assert.equal(steps[0]!.metrics["actor/lr"], 0.01 * (steps[0]!.metrics["cost/tokens"]! / 300));

  const broken = await temporaryFolder("arpo-budget");
  const onStep = ({ step }: TrainerStep) => {
    if (step === 3) throw new Error("killed");
  };
  await assert.rejects(run(broken, settings, { onStep }), /killed/);
  const copy = await temporaryFolder("arpo-budget");
  await rm(copy, { recursive: true });
  await cp(broken, copy, { recursive: true });
  await run(broken, settings);
  assert.deepEqual(await runBytes(broken), await runBytes(whole));
  const cpu = async (path: string) =>
    (await readFile(join(path, "timing.jsonl"), "utf8"))
      .trim()
      .split("\n")
      .map((line) => (JSON.parse(line) as Record<string, number>)["perf/cpu_seconds"]!);
  const [before, after] = [await cpu(copy), await cpu(broken)];
  assert.equal(before.length, 2);
  assert.deepEqual(after.slice(0, 2), before);
  assert.ok(after.every((seconds, i) => i === 0 || seconds >= after[i - 1]!));
});

test("learningRateAt() follows the budget, or tokens while it warms up", async () => {
  const { config } = await loadConfig({
    preset: "grpo",
    overrides: [
      "actor_rollout_ref.actor.optim.lr=1",
      "actor_rollout_ref.actor.optim.warmup_style=cosine",
      "actor_rollout_ref.actor.optim.lr_warmup_steps_ratio=0.1",
    ],
  });
  const { actor } = config.actor_rollout_ref;
  const rate = (at: number, more: object = {}) =>
    learningRateAt(actor, { step: 3, totalSteps: Infinity, spent: { at, of: 1000 }, ...more });
  assert.deepEqual([rate(0), rate(50), rate(100), rate(550)], [0, 0.5, 1, 0.5]);
  assert.equal(rate(500, { warm: 0.25 }), 0.125);
  const bySteps = { optim: { ...actor.optim, lr_warmup_steps: 8 } } as typeof actor;
  assert.equal(
    learningRateAt(bySteps, { step: 3, totalSteps: Infinity, spent: { at: 500, of: 1000 } }),
    0.125,
  );
  assert.equal(learningRateAt(bySteps, { step: 3, totalSteps: 100 }), 0.25);
});

test("spentOn() counts what a fork copied once, and AEPO's probes", async () => {
  const { policy, tools } = await smallParts();
  const { train: set } = tasks.calc({ train: 2 });
  const how = { tools, n: 4, initialRollouts: 2, responseLength: 24, seed: 3, refillsAhead: false };
  const [tree] = await rollout(policy, set.slice(0, 1), how);
  const node = tree!.nodes.find(({ kind, tokens }) => kind === "model" && tokens.length > 3)!;
  const forked = await tree!.fork(node.id, { at: 3, n: 2 });
  const copied = forked.nodes.filter(({ trajectory }) => trajectory < 0);
  assert.ok(copied.some(({ kind, tokens }) => kind === "model" && tokens.length > 0));
  const all = (trees: { nodes: { kind: string; tokens: Int32Array }[] }[]) =>
    trees
      .flatMap(({ nodes }) => nodes)
      .reduce((sum, { kind, tokens }) => sum + (kind === "model" ? tokens.length : 0), 0);
  const twice = copied.reduce((sum, n) => sum + (n.kind === "model" ? n.tokens.length : 0), 0);
  assert.equal(spentOn([tree!, forked]).tokens, all([tree!, forked]) - twice);

  // Every token that the policy was asked for, seen from its session.
  let drawn = 0;
  const seen = new Proxy(policy, {
    get: (target, key) => {
      const value = Reflect.get(target, key) as unknown;
      if (key !== "session") return typeof value === "function" ? value.bind(target) : value;
      return (...args: []) =>
        new Proxy(target.session(...args), {
          get: (session, name) => {
            const own = Reflect.get(session, name) as unknown;
            if (typeof own !== "function") return own;
            if (name !== "generate") return own.bind(session) as unknown;
            return async (...given: Parameters<typeof session.generate>) => {
              const segment = await session.generate(...given);
              drawn += segment.tokens.length;
              return segment;
            };
          },
        });
    },
  });
  const probed = await rollout(seen, set, { ...how, dynamicRollouts: true });
  assert.ok(probed.every(({ monitor }) => monitor!.spent!.tokens > 0));
  assert.equal(spentOn(probed).tokens, drawn);
});

test("trainOn() takes a budget, and measures where it is told", async () => {
  const { policy, tools } = await smallParts();
  const family = tasks.calc({ train: 4, test: 1 });
  const small = { prompts: 2, n: 2, responseLength: 8, tools, live: false } as const;
  const { steps, validation, trainer } = await trainOn(policy, family, {
    ...small,
    budget: { tokens: 100 },
    testAt: { tokens: [40] },
    warmup: { tokens: 50 },
    learningRate: 1e-3,
  });
  const at = (mark: number) =>
    steps.find(({ metrics }) => metrics["cost/tokens"]! >= mark)?.step ?? 0;
  assert.deepEqual(
    validation.map(({ step }) => step),
    [0, at(40), at(100)],
  );
  assert.equal(trainer.step, at(100));
  const rates = steps.map(({ metrics }) => metrics["actor/lr"]!);
  assert.ok(rates[0]! < 1e-3 && rates.at(-1) === 1e-3);
  for (const wrong of [{ budget: {} }, { budget: { tokens: 5 }, steps: 2 }]) {
    await assert.rejects(trainOn(policy, family, { ...small, ...wrong }), /budget must hold/);
  }
});

test("trainOn() branches where a function ranks highest", async () => {
  const { policy, tools } = await smallParts();
  const family = tasks.calc({ train: 4, test: 1 });
  let asked = 0;
  const { steps } = await trainOn(policy, family, {
    ...{ steps: 1, prompts: 2, n: 3, responseLength: 8, tools, live: false },
    overrides: [
      ...["lab.branch_rule=treerl", "lab.expand.trees=1"],
      ...["lab.expand.points=1", "lab.expand.rows=2"],
    ],
    ranking: ({ index }) => {
      asked++;
      return index === 2 ? 1 : 0;
    },
  });
  const branches = steps[0]!.trees.flatMap(({ trajectories }) =>
    trajectories.filter(({ kind }) => kind === "branch"),
  );
  assert.ok(asked > 0 && branches.length > 0);
  assert.ok(branches.some(({ chosen }) => chosen?.token === 2 && chosen.score === 1));
  await assert.rejects(
    trainOn(policy, family, { prompts: 2, n: 2, tools, live: false, ranking: () => 0 }),
    /expand is for the rules/,
  );
});
