import assert from "node:assert/strict";
import { test } from "node:test";
import { matmulPrecision } from "../../tensor/matmul-precision.js";
import { compiledEngine } from "../../tensor/engine/compiled-engine.js";
import { temporaryFolder } from "../../../tests/temporary.js";
import { loadConfig } from "../config/load.js";
import { assemble } from "./assemble.js";
import { runBytes } from "./testing/small-run.js";
import { train } from "./train.js";

const folder = () => temporaryFolder("arpo-lab-matmul");

/** A run of the tiny model, two steps of two prompts. */
async function parts(overrides: string[] = []) {
  const { config } = await loadConfig({
    preset: ["arpo", "tiny"],
    overrides: [
      ...["data.train_files=tasks:calc?train=4", "data.val_files=tasks:calc?test=2"],
      ...["data.train_batch_size=2", "actor_rollout_ref.actor.ppo_mini_batch_size=2"],
      ...["data.max_response_length=48", "actor_rollout_ref.actor.optim.lr=1e-3"],
      ...["++actor_rollout_ref.rollout.n=4", "trainer.total_training_steps=2"],
      ...["trainer.save_freq=1", "trainer.test_freq=-1", "trainer.val_before_train=false"],
      ...overrides,
    ],
  });
  return assemble(config);
}

async function run(overrides: string[], path?: string, stopAt?: number) {
  const made = await parts(overrides);
  const seen: Record<string, number>[] = [];
  await train(made, {
    folder: path ?? (await folder()),
    onStep: ({ step, metrics, trees }) => {
      seen.push(metrics);
      assert.ok(trees.every(({ sampler }) => sampler === made.policy.sampler));
      if (step === stopAt) throw new Error("pulled the plug");
    },
  });
  const { sampler } = made.policy;
  made.policy.model.dispose();
  await made.tools.dispose();
  return { first: seen[0]!, sampler };
}

test("lab.matmul_precision=bfloat16 trains near float32, corrects for the sampler, and goes on to the same bytes", async (t) => {
  if (!compiledEngine()) return t.skip("LEFT OUT: plain code multiplies in float32");
  const exact = await run([]);
  const mixed = ["lab.matmul_precision=bfloat16"];
  const whole = await folder();
  const half = await run(mixed, whole);
  assert.equal(exact.sampler, undefined);
  assert.equal(half.sampler, "float32");
  assert.ok(half.first["rollout_corr/k3_kl"]! > 0 && half.first["rollout_corr/k3_kl"]! < 1e-3);
  assert.equal(exact.first["rollout_corr/k3_kl"], undefined);
  const [a, b] = [exact.first["actor/grad_norm"]!, half.first["actor/grad_norm"]!];
  assert.ok(a !== b && Math.abs(a - b) < 0.02 * a, `${a} and ${b}`);
  assert.equal(matmulPrecision(), "float32");

  const cut = await folder();
  await assert.rejects(run(mixed, cut, 2), /pulled the plug/);
  await run(mixed, cut);
  assert.deepEqual(await runBytes(cut), await runBytes(whole));
});

test("a reference and a critic multiply as the policy does, and another precision is refused by name", async () => {
  const made = await parts([
    ...["lab.matmul_precision=bfloat16", "actor_rollout_ref.actor.use_kl_loss=true"],
    ...["actor_rollout_ref.actor.kl_loss_coef=0.01", "algorithm.adv_estimator=gae"],
    "critic.model.path=data/models/tiny",
  ]);
  assert.equal(made.reference!.matmulPrecision, "bfloat16");
  assert.equal(made.critic!.matmulPrecision, "bfloat16");
  for (const model of [made.policy.model, made.reference!, made.critic!]) model.dispose();
  await made.tools.dispose();
  await assert.rejects(parts(["lab.matmul_precision=half"]), /lab\.matmul_precision/);
});
