import assert from "node:assert/strict";
import { test } from "node:test";
import { positive } from "../common/options/check-options.js";
import { option } from "../common/options/option-table.js";
import {
  creditOf,
  defineAttemptRule,
  defineEstimator,
  defineRule,
  estimatorsByName,
  rules,
  setting,
  wholeTrajectory,
} from "../src/api/experimental/family.js";
import { advantages, type AdvantageOptions } from "../src/learn/advantages.js";
import { defineLoss } from "../src/learn/losses/base/definition.js";
import { actorLoss } from "../src/learn/losses/losses.js";
import { lossRegistry } from "../src/learn/losses/registry.js";
import { tokenUpdate } from "../src/learn/losses/token-update.js";
import { update } from "../src/learn/update/learner.js";
import { Model } from "../src/model/transformer/transformer.js";
import { score } from "../src/reward/score-trees.js";
import { rollout } from "../src/rollout/rollout.js";
import type { RolloutOptions } from "../src/rollout/options.js";
import { ScriptedPolicy } from "../src/rollout/testing/scripted-policy.js";
import { randomTextPolicy } from "../src/rollout/testing/random-text-policy.js";
import { tf } from "../src/tensor/tf.js";
import { explain } from "../src/view/explain/explain.js";
import { branchingView } from "../src/view/branching/branching-view.js";

// A method of one's own, in one file: where it branches, what it gives to tokens, and what it minimises.

/** Every first trajectory is left in its middle. */
const halves = defineRule({
  name: "halves",
  title: "Halves",
  words: "in the middle of every first trajectory",
  settings: { times: setting.count(2, "how often each is left") },
  usual: { n: 6, initialRollouts: 2 },
  choose: ({ times }, chains) =>
    chains.flatMap(({ id, length }) =>
      Array.from({ length: times }, () => ({
        ...{ trajectory: id, at: Math.floor(length / 2), score: 0 },
      })),
    ),
  why: ({ times }) => `the middle, ${times} times`,
});

/** A branch gets what it won on the trajectory that it left. */
const gain = defineEstimator()({
  name: "gain",
  meaning: "against the trajectory that was left",
  formula: "score - score of the trajectory that was left",
  settings: { factor: setting.figure(1, "what a gain counts") },
  besides: {},
  spans: ({ trajectories, mask }, { factor = 1 }) =>
    trajectories.map(({ reward, parent, tree }, i) => {
      const left = trajectories.find(
        (one) => one.tree === tree && one.scored.trajectory.id === parent,
      );
      const terms = [
        { name: "reward", value: reward },
        { name: "reward of what it left", value: -(left?.reward ?? reward) },
      ];
      return wholeTrajectory(mask, i, {
        terms,
        factors: factor === 1 ? [] : [{ name: "factor", value: factor }],
      });
    }),
});

test("a rule and an estimator of one's own are given as they are", async () => {
  const grown = await rollout(randomTextPolicy(), { prompt: "6*7?" }, { rule: halves, seed: 1 });
  assert.deepEqual([grown.config.rule, grown.config.expand], ["halves", { times: 2 }]);
  assert.deepEqual(
    grown.trajectories.map(({ kind }) => kind),
    ["initial", "initial", "branch", "branch", "branch", "branch"],
  );
  // The choice can be asked again, of the definition: a tree keeps its name alone.
  const replay = grown.replay({ rule: halves });
  assert.equal(replay.branches, 4);
  assert.equal(replay.unseen, 0);
  assert.throws(() => grown.replay({}), /rule halves must be given as the definition/);
  assert.match(String(grown), /halves/);

  const scored = await score(grown, ({ length }) => length);
  const credit = creditOf(scored, { estimator: gain });
  const { terms } = credit.explain(2, 0)!;
  assert.deepEqual(
    terms.map(({ name }) => name),
    ["reward", "reward of what it left"],
  );
  const batch = advantages(scored, { estimator: gain });
  assert.deepEqual([...batch.trajectories[2]!.advantages], [...credit.advantages[2]!]);
});

test("a name alone is no definition", async () => {
  const none = { name: "none" } as never;
  const [task, policy] = [{ prompt: "6*7?" }, randomTextPolicy()];
  await assert.rejects(
    rollout(policy, task, { rule: none }),
    /rule must be one of .*got an object/,
  );
  const scored = await score(await rollout(policy, task, { n: 2 }), ({ length }) => length);
  assert.throws(
    () => advantages(scored, { estimator: none }),
    /estimator must be one of .*got an object/,
  );
});

test("settings of a rule of one's own are checked as the others' are", async () => {
  const wrong = { rule: halves, expand: { times: 0 } as object };
  await assert.rejects(
    rollout(randomTextPolicy(), { prompt: "6*7?" }, wrong),
    /expand.times must be an integer of at least 1, got 0/,
  );
});

/** The policy gradient, and a spring back to where the token was: further away it pulls harder. */
const pull = defineLoss({
  name: "pull",
  title: "Pulled back",
  aggregation: "token-mean",
  rule: "verl-0.9.1",
  options: { pullBack: option(positive, 0.5) },
  tensors(input, { pullBack }, { total, figures }) {
    const { logprobs, oldLogprobs, advantages } = input;
    const moved = logprobs.sub(oldLogprobs);
    const losses = moved
      .square()
      .mul<typeof moved>(pullBack / 2)
      .sub(logprobs.mul(advantages));
    return { loss: total(losses), metrics: figures(input, moved) };
  },
  token: ({ ratio, logRatio, logprob, advantage }, _, { pullBack }) => ({
    ...{ ratio, region: "inside", used: advantage, weight: 1, hold: pullBack * logRatio },
    loss: (pullBack / 2) * logRatio ** 2 - advantage * logprob,
  }),
  advice: () => [{ id: "pull", status: "note", found: "it pulls" }],
});
const pulled = { loss: pull, pullBack: 2 };

test("a loss of one's own has the gradient that its token rule says", () => {
  const row = (...x: number[]) => tf.tensor2d([x]);
  const [now, old, gain] = [
    [-1, -0.4, -2],
    [-1.2, -0.7, -1],
    [1, -1, 0.5],
  ];
  const input = { oldLogprobs: row(...old!), advantages: row(...gain!), mask: row(1, 1, 1) };
  const lossAt = (at: number[]) =>
    actorLoss({ ...input, logprobs: row(...at) }, pulled).loss.dataSync()[0]!;
  const slopes = tf
    .grad((logprobs) => actorLoss({ ...input, logprobs }, pulled).loss)(row(...now!))
    .dataSync();
  now!.forEach((x, t) => {
    const moved = (by: number) => now!.map((one, i) => (i === t ? x + by : one));
    const measured = (lossAt(moved(1e-2)) - lossAt(moved(-1e-2))) / 2e-2;
    assert.ok(Math.abs(slopes[t]! - measured) < 1e-4, `${slopes[t]} and ${measured}`);
    const { weight, hold = 0 } = tokenUpdate(Math.exp(x - old![t]!), gain![t]!, pulled);
    assert.ok(Math.abs(slopes[t]! - (hold - weight * gain![t]!) / 3) < 1e-5);
  });
});

test("a loss of one's own is given to an update as it is, checked and explained", async () => {
  const sizes = { vocabSize: 128, hiddenSize: 8, intermediateSize: 16, layers: 1, heads: 2 };
  const policy = { model: Model.init(sizes, 1) };
  const tree = await rollout(randomTextPolicy(), { prompt: "6*7?" }, { n: 3, seed: 1 });
  const batch = advantages(await score(tree, ({ length }) => length));
  const report = await update(policy, batch, { ...pulled, learningRate: 1e-2, epochs: 2 });
  const told = report.tokens(report.batch.trajectories[0]!).findIndex((token) => token?.hold);
  assert.ok(told >= 0);

  const slip = { loss: pull, pulBack: 1 };
  await assert.rejects(update(policy, batch, slip), /got pulBack; did you mean pullBack\?/);
  const wrong = { loss: pull, pullBack: 0 };
  await assert.rejects(update(policy, batch, wrong), /pullBack must be a finite number above 0/);

  const explanation = explain(report);
  const [own] = JSON.parse(JSON.stringify(explanation.payload.algorithms)) as {
    label: string;
    settings: { loss: string };
    lines: { title: string }[];
  }[];
  assert.deepEqual([own!.label, own!.settings.loss], ["This update: Pulled back", "pull"]);
  assert.ok(own!.lines.some(({ title }) => title === "Pulled back"));
  const terms = explanation.token(0, told);
  const { hold, weight } = report.tokens(report.batch.trajectories[0]!)[told]!;
  assert.ok(Math.abs(terms.hold - hold!) < 1e-6 && terms.weight === weight);
  policy.model.dispose();
});

test("a loss that is added has a name: for a configuration, doctor, and a run that goes on", async () => {
  lossRegistry.add(pull);
  const { loadConfig } = await import("../src/run/config/load.js");
  const { updateOptions } = await import("../src/run/trainer/options.js");
  const { checkOwnLoss, ownLossOf } = await import("../src/run/trainer/own-loss.js");
  const { exportVerl } = await import("../src/interop/verl/export-verl.js");
  const { losses } = await import("../src/doctor/config/losses.js");
  const overrides = ["actor_rollout_ref.actor.policy_loss.loss_mode=pull"];
  const { config } = await loadConfig({ preset: "arpo", overrides });
  assert.equal(updateOptions(config).loss, pull);
  assert.ok([...losses({ config } as never)].some(({ id }) => id === "pull"));
  await assert.rejects(
    exportVerl({ preset: "arpo", overrides }, "nowhere"),
    /policy_loss.loss_mode=pull \(verl 0.9.1 has no such one\)/,
  );

  const saved = ownLossOf(config)!;
  checkOwnLoss(saved, config, "step-1");
  const { config: usual } = await loadConfig();
  checkOwnLoss(undefined, usual, "step-1");
  assert.throws(
    () => checkOwnLoss({ ...saved, sha256: "" }, config, "step-1"),
    /the loss must be the definition of pull that step-1 was trained with, got another definition/,
  );
  assert.throws(() => checkOwnLoss(saved, usual, "step-1"), /got vanilla/);
});

test("a rule that decides after calls is given as it is: to rollouts, forks, replays and views", async () => {
  const eager = (above: number) =>
    defineAttemptRule({
      ...{ name: "eager", title: "Eager", words: "after every call", reads: [], draws: "none" },
      decide: (_, { u }) => ({
        ...{ branch: u > above, delta: 0, score: u, bar: above },
        ...{ probability: 1 - above, reason: `${u} against ${above}` },
      }),
    });
  const policy = new ScriptedPolicy(({ sequence, turn }) => ({
    text: turn === 0 ? `<calc>${sequence}+1</calc>` : "done\u0001",
  }));
  const calc = { name: "calc", tag: "calc", description: "", execute: () => "7" };
  const grow = (rule: ReturnType<typeof eager>) =>
    rollout(
      policy,
      { prompt: "6*7?" },
      { rule, n: 4, initialRollouts: 1, beamSize: 4, tools: [calc] },
    );
  const always = await grow(eager(-1));
  assert.equal(always.config.rule, "eager");
  assert.deepEqual(
    always.trajectories.map(({ parent }) => parent),
    [-1, 0, 0, 0],
  );
  assert.equal(always.replay({}).branches, 3);
  assert.equal((await always.fork(always.nodes[0]!.id)).config.rule, "eager");
  // Another one of the name has a name of its own.
  const never = await grow(eager(2));
  assert.equal(never.config.rule, "eager-2");
  assert.deepEqual(
    never.trajectories.map(({ parent }) => parent),
    [-1, -1, -1, -1],
  );
  assert.equal(never.replay({ rule: "eager" as "appo" }).branches, 3);
});

test("options of an estimator of one's own stand under its name", async () => {
  const grown = await rollout(randomTextPolicy(), { prompt: "6*7?" }, { rule: halves, seed: 1 });
  const scored = await score(grown, ({ length }) => length);
  const plain = creditOf(scored, { estimator: gain }).advantages;
  const doubled: object = { estimator: gain, gain: { factor: 2 } };
  assert.deepEqual(
    creditOf(scored, doubled).advantages.map((row) => [...row]),
    plain.map((row) => [...row].map((value) => 2 * value)),
  );
  const wrong: object = { estimator: gain, gain: { factor: "2" } };
  assert.throws(() => advantages(scored, wrong), /gain.factor must be a finite number, got "2"/);
  assert.throws(() => advantages(scored, { gain: {} } as object), /every option must be known/);
});

test("what is added is known by its name: to options, suggestions, replays and views", async () => {
  rules.add({ ...halves, name: "thirds" } as typeof halves & { name: "thirds" });
  estimatorsByName.add({ ...gain, name: "my_gain" });
  const named = { rule: "thirds", expand: { times: 1 }, seed: 1 } as unknown as RolloutOptions;
  const grown = await rollout(randomTextPolicy(), { prompt: "6*7?" }, named);
  assert.deepEqual([grown.config.rule, grown.config.expand], ["thirds", { times: 1 }]);
  assert.equal(grown.replay({}).branches, 2);
  const view = branchingView(grown, { rules: ["thirds" as "appo"] });
  assert.match(view.summary, /\nthirds: 2 branches/);
  await assert.rejects(
    rollout(randomTextPolicy(), { prompt: "?" }, { rule: "thrids" as "appo" }),
    /did you mean "thirds"\?/,
  );
  const scored = await score(grown, ({ length }) => length);
  const told = { estimator: "my_gain", myGain: { factor: 3 } } as unknown as AdvantageOptions;
  assert.equal(advantages(scored, told).estimator, "my_gain");
  assert.throws(
    () => advantages(scored, { estimator: "my_gan" as "grpo" }),
    /did you mean "my_gain"\?/,
  );
});
