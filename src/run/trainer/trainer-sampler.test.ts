import assert from "node:assert/strict";
import { test } from "node:test";
import { HfTokenizer } from "../../model/tokenizer/hf-tokenizer.js";
import { Policy } from "../../policy/policies.js";
import { compiledEngine } from "../../tensor/engine/compiled-engine.js";
import { metricMeaning } from "../../../tests/docs/reference-pages.js";
import { tinyTokenizer } from "../tiny/tiny-tokenizer.js";
import { smallParts } from "./testing/small-run.js";
import { Trainer, type TrainerStep } from "./trainer.js";

/** One step whose rollouts come from a copy with rounded weights. */
async function stepFrom(dtype: "float32" | "int8", overrides: string[] = []): Promise<TrainerStep> {
  const parts = await smallParts(overrides);
  const policy = Policy.fromModel(parts.policy.model, new HfTokenizer(tinyTokenizer()), { dtype });
  return new Trainer({ ...parts, policy }).next();
}

const corrected = ({ metrics }: TrainerStep) =>
  Object.keys(metrics).filter((name) => name.startsWith("rollout_corr/"));

test("a rounded sampler trains under correction by default and logs its mismatch", async (t) => {
  if (!compiledEngine()) return t.skip("LEFT OUT: plain code does not round weights");
  const step = await stepFrom("int8");
  const { metrics, batch } = step;
  assert.ok(batch.trajectories.every((sequence) => sequence.rolloutWeights !== undefined));
  assert.ok(metrics["rollout_corr/k3_kl"]! > 0);
  assert.ok(metrics["rollout_corr/rollout_is_eff_sample_size"]! > 0.9);
  assert.ok(Number.isFinite(metrics["actor/grad_norm"]));
  for (const name of Object.keys(metrics)) assert.ok(metricMeaning(name), `${name} has a meaning`);
  assert.ok(step.trees.every(({ sampler }) => sampler === "int8"));

  const off = await stepFrom("int8", ["lab.correct_sampler=false"]);
  assert.ok(off.batch.trajectories.every((sequence) => sequence.rolloutWeights === undefined));
  assert.equal(off.metrics["rollout_corr/k3_kl"], metrics["rollout_corr/k3_kl"]);
});

test("a sampler that is the policy is not corrected, unless it is asked for", async () => {
  assert.deepEqual(corrected(await stepFrom("float32")), []);
  const keys = [
    "algorithm.rollout_correction.rollout_is=sequence",
    "algorithm.rollout_correction.rollout_is_threshold=0.5_2",
    "algorithm.rollout_correction.rollout_rs='token_k1,seq_mean_k3'",
    "algorithm.rollout_correction.rollout_rs_threshold='0.5_2,0.1'",
  ];
  const step = await stepFrom("float32", keys);
  const { metrics } = step;
  // The model decodes as it trains, but for rounding.
  assert.ok(Math.abs(metrics["rollout_corr/rollout_is_mean"]! - 1) < 1e-4);
  assert.equal(metrics["rollout_corr/rollout_rs_token_k1_masked_fraction"], 0);
  for (const name of corrected(step)) assert.ok(metricMeaning(name), `${name} has a meaning`);
});

test("another policy may roll out, and the update corrects for it", async () => {
  const parts = await smallParts();
  const tokenizer = new HfTokenizer(tinyTokenizer());
  const elsewhere = Policy.fromModel(parts.policy.model.copy(), tokenizer);
  Object.defineProperty(elsewhere, "sampler", { value: "remote" });
  const { metrics, trees } = await new Trainer({ ...parts, sampler: elsewhere }).next();
  assert.ok(trees.every(({ sampler }) => sampler === "remote"));
  assert.ok(Math.abs(metrics["rollout_corr/kl"]!) < 1e-4);

  const bypass = await smallParts(["algorithm.rollout_correction.bypass_mode=true"]);
  const step = await new Trainer({ ...bypass, sampler: elsewhere }).next();
  assert.ok(step.batch.trajectories.every(({ oldFrom }) => oldFrom === "sampler"));
  assert.ok(Number.isFinite(step.metrics["actor/grad_norm"]));
});
