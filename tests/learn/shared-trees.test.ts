import assert from "node:assert/strict";
import { test } from "node:test";
import { advantages, type AdvantageOptions } from "../../src/learn/advantages.js";
import { estimatorsByName } from "../../src/learn/estimators/registry.js";
import { lossRegistry } from "../../src/learn/losses/registry.js";
import { Learner } from "../../src/learn/update/learner.js";
import type { UpdateOptions } from "../../src/learn/update/update-settings.js";
import { Model } from "../../src/model/transformer/transformer.js";
import { score } from "../../src/reward/score-trees.js";
import { rolloutPresets } from "../../src/rollout/presets.js";
import { rollout } from "../../src/rollout/rollout.js";
import { randomTextPolicy } from "../../src/rollout/testing/random-text-policy.js";
import { calculator } from "../../src/tools/calculator/calculator.js";
import type { Tool } from "../../src/tools/tool.js";
import { ToolSet } from "../../src/tools/tool-set.js";

const sizes = {
  ...{ vocabSize: 128, hiddenSize: 8, intermediateSize: 16, layers: 1, heads: 2 },
  contextLength: 512,
};

const paid: Tool = {
  ...calculator(),
  execute: (input) => ({ text: input, ok: true, reward: input.startsWith("1") ? 1 : 0.25 }),
};

/** Trees that branch after results; `flat` ones do not branch, as fr3e needs it. */
const trees = (flat: boolean) =>
  rollout(
    randomTextPolicy(),
    [0, 1].map((i) => ({ prompt: `q${i}`, id: `task ${i}` })),
    {
      ...rolloutPresets.arpo,
      ...(flat ? { n: 6, initialRollouts: 6 } : { n: 8, initialRollouts: 3, beamSize: 4 }),
      ...{ seed: 4, tools: new ToolSet([paid], { callLimit: 5 }) },
    },
  );

/** The gradient of an update's first step, which a moment of the optimiser is a tenth of. */
async function gradient(
  credit: AdvantageOptions["estimator"],
  options: UpdateOptions,
): Promise<Record<string, Float32Array>> {
  const scored = await score(await trees(credit === "fr3e"), ({ length }) => ({
    score: (length % 3) / 2,
    reason: "",
    parts: { thirds: length % 3, halves: length % 2 },
  }));
  const masks = scored.trajectories.map(({ trajectory: { lossMask } }) => [...lossMask]);
  const values = masks.map((mask, i) => mask.map((_, t) => Math.sin(i + 7 * t)));
  const learner = new Learner(Model.init(sizes, 3), {
    ...{ learningRate: 1e-3, maxNorm: 1e9, droBeta: 0.5, reference: Model.init(sizes, 4) },
    ...{ rolloutCorrection: false, ...options },
  });
  const rows = scored.trajectories.map(({ trajectory, group, score: { score: reward } }) => ({
    ...{ trajectory, group, reward },
  }));
  const prepared = await learner.prepare(rows, {}, "distributions");
  const batch = advantages(scored, {
    ...{ estimator: credit, values, baselines: masks.map((_, i) => (i % 2) / 4) },
    rows: prepared,
  });
  await learner.update(batch);
  const { moments } = await learner.state();
  learner.dispose();
  return Object.fromEntries(Object.entries(moments).map(([name, { m }]) => [name, m]));
}

async function compare(
  credit: AdvantageOptions["estimator"],
  options: UpdateOptions,
  name: string,
) {
  const apart = await gradient(credit, { ...options, sharedPrefixes: false });
  const once = await gradient(credit, { ...options, sharedPrefixes: true });
  const largest = Math.max(...Object.values(apart).flatMap((values) => [...values].map(Math.abs)));
  for (const [weight, values] of Object.entries(apart)) {
    values.forEach((g, i) => {
      const far = Math.abs(g - once[weight]![i]!);
      assert.ok(far <= 1e-5 * largest + 1e-9, `${name}: ${weight}[${i}] ${g} ${once[weight]![i]}`);
    });
  }
  return largest;
}

for (const loss of lossRegistry.names) {
  test(`${loss}: a shared beginning computed once gives the same gradient`, async () => {
    assert.ok(
      (await compare("grpo", { loss: loss as "vanilla", klLossCoefficient: 0.1 }, loss)) > 0,
    );
  });
}

test("under every estimator a shared beginning computed once gives the same gradient", async () => {
  const moved: string[] = [];
  for (const name of estimatorsByName.names) {
    const credit = name as NonNullable<AdvantageOptions["estimator"]>;
    if ((await compare(credit, {}, name)) > 0) moved.push(name);
  }
  assert.ok(moved.length > 20, moved.join());
});

test("how a step is split into passes changes none of its figures", async () => {
  const scored = await score(await trees(false), ({ length }) => (length % 3) / 2);
  for (const aggregation of ["token-mean", "seq-mean-token-sum", "token-sum"] as const) {
    const figures = async (maxSequencesPerPass: number) => {
      const learner = new Learner(Model.init(sizes, 3), { learningRate: 1e-3, aggregation });
      const { metrics } = await learner.update(advantages(scored, { estimator: "grpo" }), {
        maxSequencesPerPass,
        epochs: 2,
        rolloutCorrection: false,
      });
      learner.dispose();
      return metrics;
    };
    const [whole, apart] = [await figures(100), await figures(3)];
    for (const [name, value] of Object.entries(whole)) {
      const far = Math.abs(value - apart[name]!);
      assert.ok(
        far <= 1e-5 * Math.max(1, Math.abs(value)),
        `${aggregation} ${name} ${value} ${apart[name]}`,
      );
    }
  }
});
