import assert from "node:assert/strict";
import { after, test } from "node:test";
import { modelFolder } from "../model/files/model-folder.js";
import { Policy } from "../policy/policies.js";
import { rollout } from "../rollout/rollout.js";
import { RolloutTree } from "../rollout/rollout-tree.js";
import { ScriptedPolicy } from "../rollout/testing/scripted-policy.js";
import { taskTools, world } from "../api/index.js";
import { fillIn } from "./fill-in.js";
import { importRollouts } from "./import-rollouts.js";
import { readRollouts } from "./read-rollouts.js";

const policy = await Policy.load(modelFolder("data/models/tiny"));
const tools = taskTools(world);
after(async () => {
  policy.dispose();
  await tools.dispose();
});

const forgotten = (tree: RolloutTree) =>
  new RolloutTree({
    ...tree,
    nodes: tree.nodes.map((node) => ({
      ...node,
      logprobs: node.logprobs.map(() => NaN),
      entropies: node.entropies.map(() => NaN),
    })),
  });

test("fillIn() finds the log-probs and entropies that the policy had when it sampled", async () => {
  const { tasks } = await import("../tasks/tasks/index.js");
  const { train } = tasks.calc({ train: 3, test: 1 });
  const trees = await rollout(policy, train, {
    ...{ n: 6, initialRollouts: 2, beamSize: 3, branchProbability: 1, tools },
    sampling: { temperature: 0.7 },
  });
  const made = trees as unknown as RolloutTree[];
  const filled = await fillIn(made.map(forgotten), policy, { temperature: 0.7 });
  let compared = 0;
  for (const [i, tree] of filled.entries()) {
    for (const [k, node] of tree.nodes.entries()) {
      const was = made[i]!.nodes[k]!;
      for (const [t, logprob] of was.logprobs.entries()) {
        assert.ok(Math.abs(logprob - node.logprobs[t]!) < 2e-3, `${logprob} ${node.logprobs[t]}`);
        assert.ok(Math.abs(was.entropies[t]! - node.entropies[t]!) < 2e-3);
        compared++;
      }
    }
  }
  assert.ok(compared > 100);
});

test("fillIn() tokenises an import by the policy and says so; what a file has stays", async () => {
  const imported = readRollouts([
    { input: "<|user|>6*7?<|assistant|>", output: "It is 42.", score: 1, step: 0 },
    { input: "<|user|>6*7?<|assistant|>", output: "It is 54.", score: 0, step: 0 },
  ]);
  const filled = await fillIn(imported, policy);
  const [tree] = filled.trees;
  assert.ok(tree!.nodes.every(({ logprobs }) => logprobs.every((x) => x < 0)));
  assert.match(String(filled), /entropies +filled in by scoring under tiny/);
  assert.match(String(filled), /tokens +text, tokenised by the tokenizer of tiny/);
  assert.equal(filled.scored!.mean, 0.5);
  assert.ok(tree!.canGoOn, "it can be forked with the policy");

  const place = "tests/fixtures/rollouts/tinker/capture";
  const own = await fillIn(await importRollouts(place, { policy }), policy);
  assert.ok(own.tree(0).nodes.every(({ logprobs }) => logprobs.every((x) => x === -0.5)));
  assert.ok(own.tree(0).nodes.every(({ entropies }) => entropies.every((x) => x > 0)));
  assert.equal(own.tree(0).sampler, "remote", "an update corrects for who drew it");
  const anew = await fillIn(await importRollouts(place, { policy }), policy, { replace: true });
  assert.ok(anew.tree(0).nodes.some(({ logprobs }) => logprobs.some((x) => x !== -0.5)));
  assert.equal(anew.tree(0).sampler, undefined, "the sampler's own log-probs are gone");
});

test("fillIn() refuses policies without a model, and tokens of another vocabulary", async () => {
  const imported = readRollouts([{ input: "a", output: "b", step: 0 }]);
  const scripted = new ScriptedPolicy(() => ({ text: "" }));
  await assert.rejects(fillIn(imported, scripted), /the policy must have a model on this machine/);
  const [tree] = readRollouts([{ input: "a", output: "b", step: 0 }]).trees;
  tree!.nodes[0]!.tokens[0] = 100_000;
  await assert.rejects(
    fillIn([tree!], policy),
    /must be of the policy's vocabulary of \d+, got 100000/,
  );
  await assert.rejects(
    fillIn([], policy, { temperature: 0 }),
    /temperature must be a finite number above 0, got 0/,
  );
});
