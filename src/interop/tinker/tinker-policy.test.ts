import assert from "node:assert/strict";
import { test } from "node:test";
import { inspect } from "node:util";
import { tasks } from "../../tasks/tasks/index.js";
import { advantages, creditEstimators } from "../../learn/advantages.js";
import { Learner, update } from "../../learn/update/learner.js";
import { loadModel } from "../../model/load/load-model.js";
import { Random } from "../../base/random/random.js";
import { score } from "../../reward/score-trees.js";
import { rollout } from "../../rollout/rollout.js";
import { trainOn } from "../../run/trainer/train-cells.js";
import { ready } from "../../tensor/backends.js";
import { ToolSet } from "../../tools/tool-set.js";
import { adaptersOf, apart, farModel, nearTrainee, smallModel, tokenizer } from "./testing/near-and-far.js"; // prettier-ignore

const tools = new ToolSet([
  { name: "python", tag: "python", description: "Answers 42.", execute: () => "42" },
]);

for (const reduction of ["sum", "mean"] as const) {
  test(`trees with tools and branches grow on a server and train it as our own (${reduction})`, async (t) => {
    await ready();
    const base = await loadModel("data/models/tiny");
    const { server, far } = await farModel(t, base, { reduction });
    assert.match(inspect(far), /^Policy \(.+ at .+, adapters of rank \d+, 0 steps, context \d+\)$/);
    const trees = await rollout(far, tasks.calc({ train: 2, test: 1 }).train, {
      ...{ n: 6, initialRollouts: 3, responseLength: 80, branchProbability: 1, beamSize: 2 },
      ...{ tools, seed: 3 },
    });
    assert.ok(trees.some((tree) => tree.nodes.some(({ kind }) => kind === "tool")));
    assert.ok(trees.some((tree) => tree.trajectories.some(({ kind }) => kind === "branch")));
    assert.ok(trees.every(({ sampler }) => sampler === "remote"));
    assert.match(far.entropyMeaning, reduction === "sum" ? /10 most likely/ : /surprisal/);

    const options = { learningRate: 1e-3, maxNorm: Infinity, miniBatchSize: 6 };
    const near = nearTrainee(base, options);
    const before = adaptersOf(near.model);
    const scored = await score(trees, ({ response }) => (response.length % 5) / 5);
    const report = await update(far, advantages(scored), options);
    await new Learner(near, options).update(advantages(scored));
    const found = apart(before, await server.adapters(), adaptersOf(near.model));
    assert.ok(found.relative < 1e-3, String(found.relative));
    // The sampler's own log-probabilities are compared with the trainer's, and corrected for.
    assert.ok(Math.abs(report.metrics["rollout_corr/kl"]!) < 1e-4);
    assert.ok(
      report.batch.trajectories.every(({ rolloutWeights }) => rolloutWeights !== undefined),
    );
    near.model.dispose();
    base.dispose();
  });
}

/** Rules whose sequences must have been grown in their own way. */
const ownTrees: readonly string[] = ["spo_chain", "fr3e", "appo"];
const paying = new ToolSet([
  {
    ...{ name: "python", tag: "python", description: "Answers 42." },
    execute: () => ({ text: "42", ok: true, reward: 0.5 }),
  },
]);

test("every credit rule trains a server's model", async (t) => {
  await ready();
  const base = await loadModel("data/models/tiny");
  const { server, far } = await farModel(t, base);
  const trees = await rollout(far, tasks.calc({ train: 2, test: 1 }).train, {
    ...{ n: 6, initialRollouts: 3, responseLength: 40, branchProbability: 1, beamSize: 2 },
    ...{ tools: paying, seed: 3 },
  });
  const scored = await score(trees, ({ response }) => {
    const own = (response.length % 5) / 5;
    return { score: own, reason: "", parts: { own, short: Number(response.length < 60) } };
  });
  const asked: string[] = [];
  for (const estimator of creditEstimators) {
    if (ownTrees.includes(estimator)) continue;
    await update(far, advantages(scored, { estimator }), { learningRate: 1e-4 });
    asked.push(estimator);
  }
  assert.equal(server.count("optim_step"), asked.length);
  base.dispose();
});

test("a sequence ends where a local model's does, whatever a server writes beyond", async (t) => {
  const base = await smallModel();
  const { far } = await farModel(t, base);
  const session = far.session();
  for (let seed = 0; seed < 20; seed++) {
    const sequence = session.open(tokenizer.encode("What is 6*7?"));
    const options = { maxTokens: 60, stop: ["a"], random: Random.from(seed) };
    const { tokens, finish, stop, entropies, logprobs, top } = await session.generate(
      sequence,
      options,
    );
    const end = tokens.findIndex((id) => tokenizer.eosIds.includes(id));
    assert.ok(end < 0 || (end === tokens.length - 1 && finish === "end"));
    const text = tokenizer.decode([...tokens.slice(0, -1)]);
    assert.ok(!text.includes("a"));
    assert.equal(finish === "stop", stop === "a");
    assert.equal(top.width, 0);
    assert.deepEqual(
      entropies,
      logprobs.map((p) => -p),
    );
    assert.equal(sequence.tokens.length, tokenizer.encode("What is 6*7?").length + tokens.length);
  }
  const sequence = session.open([1, 2, 3]);
  const one = { maxTokens: 4, random: Random.from(1) };
  await assert.rejects(session.generate(sequence, { ...one, minP: 0.1 }), /minP must be left out/);
  const fork = session.fork(sequence);
  await session.generate(fork, one);
  assert.equal(sequence.tokens.length, 3);
  session.truncate(fork, 2);
  assert.deepEqual([...fork.tokens], [1, 2]);
  base.dispose();
});

test("trainOn trains a server's model, and sampling follows the weights", async (t) => {
  const base = await smallModel();
  const { server, far } = await farModel(t, base);
  const { steps } = await trainOn(far, tasks.calc({ train: 4, test: 1 }), {
    ...{ preset: "arpo", steps: 2, prompts: 2, n: 4, live: false, tools },
    reward: ({ length }) => (length % 3) / 2,
  });
  assert.deepEqual(steps.map(({ step }) => step), [1, 2]); // prettier-ignore
  assert.ok(Number.isFinite(steps[1]!.metrics["actor/grad_norm"]));
  assert.equal(far.trainee.steps, server.count("optim_step"));
  // Weights go to the sampler once per step, not per sequence.
  assert.equal(server.count("save_weights_for_sampler"), 2);

  const session = far.session();
  const sequence = session.open([1, 2, 3]);
  const trees = await rollout(far, tasks.calc({ train: 1, test: 1 }).train, {
    ...{ n: 4, initialRollouts: 4, responseLength: 12, tools, seed: 5 },
  });
  await update(far, advantages(await score(trees, ({ length }) => length % 3)), {
    learningRate: 1e-4,
  });
  const stale = session.generate(sequence, { maxTokens: 2, random: Random.from(1) });
  await assert.rejects(stale, /training has changed them since/);
  base.dispose();
});
