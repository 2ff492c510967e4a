import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { temporaryFolder } from "../../../tests/temporary.js";
import { loadConfig } from "./load.js";
import { optionNames } from "./option-keys.js";
import { get, type Tree } from "./tree.js";

// What `trainOn` takes stands under the same names on a command line and in a file.

const actor = "actor_rollout_ref.actor";
const rollout = "actor_rollout_ref.rollout";

const cases: readonly [override: string, key: string, value: unknown][] = [
  ["klLossCoefficient=0.02", `${actor}.kl_loss_coef`, 0.02],
  ["klLossCoefficient=0.02", `${actor}.use_kl_loss`, true],
  ["clipRatioHigh=0.3", `${actor}.clip_ratio_high`, 0.3],
  ["aggregation=token-sum", `${actor}.loss_agg_mode`, "token-sum"],
  ["estimator=rloo", "algorithm.adv_estimator", "rloo"],
  ["loss=cispo", `${actor}.policy_loss.loss_mode`, "cispo"],
  ["rule=arpo-paper", "lab.branch_rule", "arpo-paper"],
  ["calls=hermes", `${rollout}.tools.calls`, "hermes"],
  ["sampling.temperature=0.7", `${rollout}.temperature`, 0.7],
  ["sampling={topP: 0.9}", `${rollout}.top_p`, 0.9],
  ["initialRollouts=1", `${rollout}.initial_rollouts`, 1],
  ["branchProbability=0.3", `${rollout}.branch_probability`, 0.3],
  ["dynamicRollouts=true", `${rollout}.enable_dynamic_rollouts`, true],
  ["dynamicRollouts.tokens=9", `${rollout}.initial_entropy_tokens`, 9],
  ["responseLength=99", `${rollout}.response_length`, 99],
  ["steps=3", "trainer.total_training_steps", 3],
  ["learningRate=1e-5", `${actor}.optim.lr`, 1e-5],
  ["budget.tokens=500", "lab.budget.tokens", 500],
  ["treeGrpo.form=tree", "lab.credit.tree_grpo.form", "tree"],
  ["expand.trees=3", "lab.expand.trees", 3],
];

for (const [override, key, value] of cases) {
  test(`a configuration takes ${override}`, async () => {
    const rule = override.startsWith("expand") ? ["rule=tree-grpo", "n=9"] : [];
    const { config } = await loadConfig({ overrides: [...rule, override] });
    assert.deepEqual(get(config as unknown as Tree, key), value);
  });
}

test("a file takes options beside keys; a key that stands behind it is laid over it", async () => {
  const file = join(temporaryFolder("option-keys"), "run.yaml");
  await writeFile(
    file,
    "n: 8\nsampling:\n  topK: 5\nactor_rollout_ref:\n  actor:\n    clip_ratio: 0.1\n",
  );
  const read = async (...overrides: string[]) => {
    const { config } = await loadConfig({ files: [file], overrides });
    const { actor, rollout } = config.actor_rollout_ref;
    return [rollout.n, rollout.top_k, actor.clip_ratio];
  };
  assert.deepEqual(await read(), [8, 5, 0.1]);
  assert.deepEqual(await read("actor_rollout_ref.rollout.n=4", "clipRatio=0.2"), [4, 5, 0.2]);
});

test("what is no option, or has no key, is refused by its name", async () => {
  for (const [override, message] of [
    ["klLossCoeficient=1", /got klLossCoeficient; did you mean klLossCoefficient\?/],
    ["sampling.minP=0.1", /every key must be known, got sampling\.minP/],
    ["sampling=5", /every key must be known, got sampling/],
    ["clipRatio=text", /clip_ratio must be a number, got "text"/],
    ["rule=arpo-papr", /branch_rule/],
  ] as const) {
    await assert.rejects(loadConfig({ overrides: [override] }), message);
  }
  assert.ok(optionNames().has("klLossCoefficient") && !optionNames().has("lr"));
});
