import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { tasks } from "../../tasks/tasks/index.js";
import { advantages } from "../../learn/advantages.js";
import { Learner } from "../../learn/update/learner.js";
import { lossNames } from "../../learn/losses/registry.js";
import type { UpdateOptions } from "../../learn/update/update-settings.js";
import type { Model } from "../../model/transformer/transformer.js";
import { score } from "../../reward/score-trees.js";
import type { Scored } from "../../reward/scored.js";
import { rollout } from "../../rollout/rollout.js";
import type { RolloutOptions } from "../../rollout/options.js";
import { ToolSet } from "../../tools/tool-set.js";
import type { Policy } from "../../policy/policies.js";
import { adaptersOf, apart, farModel, nearTrainee, smallModel } from "./testing/near-and-far.js";

const task = tasks.calc({ train: 1, test: 1 }).train[0]!;
const tools = new ToolSet([
  { name: "python", tag: "python", description: "Answers 42.", execute: () => "42" },
]);
const growing: RolloutOptions = {
  ...{ n: 6, initialRollouts: 3, responseLength: 24 },
  tools,
  seed: 1,
};

/** Scored sequences whose rewards differ. */
async function scoredSequences(policy: Policy, options: RolloutOptions = {}): Promise<Scored> {
  const tree = await rollout(policy, task, { ...growing, ...options });
  return score(tree, ({ response }) => (response.length % 7) / 7);
}

/** Updates a server's model and one in memory with the same sequences, and compares what became of them. */
async function compared(
  t: TestContext,
  base: Model,
  reduction: "sum" | "mean",
  options: UpdateOptions,
): Promise<{ relative: number; moved: number; far: number; near: number }> {
  const { server, far } = await farModel(t, base, { reduction });
  const scored = await scoredSequences(far);
  const near = nearTrainee(base, options);
  const before = adaptersOf(near.model);
  const [there, here] = [new Learner(far.trainee, options), new Learner(near, options)];
  const report = await there.update(advantages(scored));
  const same = await here.update(advantages(scored));
  const found = apart(before, await server.adapters(), adaptersOf(near.model));
  near.model.dispose();
  const loss = "actor/pg_loss";
  return { ...found, far: report.metrics[loss]!, near: same.metrics[loss]! };
}

// Two passes over two mini-batches each: ratios leave 1, and moments are carried on.
const steps: UpdateOptions = {
  ...{ learningRate: 3e-3, maxNorm: Infinity, epochs: 2, miniBatchSize: 3, clipRatio: 0.05 },
};

for (const reduction of ["sum", "mean"] as const) {
  test(`every loss moves a server's adapters as it moves our own (${reduction})`, async (t) => {
    const base = await smallModel();
    for (const loss of lossNames) {
      const found = await compared(t, base, reduction, { ...steps, loss, droBeta: 0.1 });
      assert.ok(found.relative < 1e-3, `${loss}: ${found.relative} of ${found.moved}`);
      assert.ok(found.moved > 1e-3, loss);
      assert.ok(Math.abs(found.far - found.near) < 1e-4 * Math.max(1, Math.abs(found.near)), loss);
    }
    base.dispose();
  });

  test(`losses that a server has itself move it as ours do (${reduction})`, async (t) => {
    const base = await smallModel();
    for (const options of [{ loss: "cispo" }, { loss: "vanilla", clipRatioC: Infinity }] as const) {
      const found = await compared(t, base, reduction, { ...steps, ...options });
      assert.ok(found.relative < 1e-3, `${options.loss}: ${found.relative} of ${found.moved}`);
    }
    base.dispose();
  });

  test(`AEPO's update at a server is ours with surprisals for entropies (${reduction})`, async (t) => {
    const base = await smallModel();
    const aepo = { entropyBalancedClipping: true, entropyBalancedAdvantage: true } as const;
    const found = await compared(t, base, reduction, { ...steps, ...aepo });
    assert.ok(found.relative < 1e-3, String(found.relative));
    base.dispose();
  });
}

test("a server's clipping is asked for where it has one, and else what was not clipped is told", async (t) => {
  const base = await smallModel();
  const options = { learningRate: 3e-3, maxNorm: 1e-3 };
  const clipped = await compared(t, base, "sum", options);
  assert.ok(clipped.relative < 1e-3, String(clipped.relative));
  const { far } = await farModel(t, base);
  const { metrics } = await new Learner(far.trainee, options).update(
    advantages(await scoredSequences(far)),
  );
  assert.equal(metrics["actor/unclipped"], 1);
  base.dispose();
});

test("a KL loss is measured against the server's base model", async (t) => {
  const base = await smallModel();
  const kl = { ...steps, klLossCoefficient: 0.5 };
  const { server, far } = await farModel(t, base);
  const scored = await scoredSequences(far);
  const near = nearTrainee(base, kl);
  const before = adaptersOf(near.model);
  await new Learner(far.trainee, { ...kl, reference: far.reference }).update(advantages(scored));
  await new Learner(near, { ...kl, reference: base }).update(advantages(scored));
  const found = apart(before, await server.adapters(), adaptersOf(near.model));
  assert.ok(found.relative < 1e-3, String(found.relative));
  near.model.dispose();
  base.dispose();
});

test("what a server cannot follow is refused before anything is sent", async (t) => {
  const base = await smallModel();
  const { server, far } = await farModel(t, base);
  const batch = advantages(await scoredSequences(far));
  const sent = server.count("forward");
  const bonus = new Learner(far.trainee).update(batch, { entropyCoefficient: 0.1 });
  await assert.rejects(bonus, /entropyCoefficient must be 0, since a server says no entropies/);
  await assert.rejects(
    new Learner(far.trainee).update(batch, { temperature: 0.5 }),
    /temperature must be 1/,
  );
  assert.equal(server.count("forward"), sent);
  assert.throws(() => new Learner(far.trainee).model, /must be a model in memory/);
  base.dispose();
});
