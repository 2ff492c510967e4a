import assert from "node:assert/strict";
import { test } from "node:test";
import { HfTokenizer } from "../../model/tokenizer/hf-tokenizer.js";
import { Policy } from "../../policy/policies.js";
import { compiledEngine } from "../../tensor/engine/compiled-engine.js";
import { tinyTokenizer } from "../tiny/tiny-tokenizer.js";
import { smallParts } from "./testing/small-run.js";
import { Trainer, type TrainerStep } from "./trainer.js";

async function stepOf(dtype: "float32" | "int8", overrides: string[] = []): Promise<TrainerStep> {
  const parts = await smallParts(overrides);
  const policy = Policy.fromModel(parts.policy.model, new HfTokenizer(tinyTokenizer()), { dtype });
  return new Trainer({ ...parts, policy }).next();
}

test("lab.reuse_log_probs takes what the rollout said, which is what is measured up to rounding", async () => {
  const [measured, reused] = [await stepOf("float32", ["lab.reuse_log_probs=false"]), await stepOf("float32")]; // prettier-ignore
  assert.equal(measured.metrics["actor/reused_log_probs"], undefined);
  assert.equal(reused.metrics["actor/reused_log_probs"], 1);
  for (const [i, sequence] of reused.batch.trajectories.entries()) {
    const { lossMask, logprobs } = sequence.trajectory;
    const other = measured.batch.trajectories[i]!;
    assert.deepEqual(sequence.trajectory.tokens, other.trajectory.tokens);
    for (const [t, trained] of lossMask.entries()) {
      if (!trained) continue;
      assert.equal(sequence.oldLogprobs![t], logprobs[t]);
      assert.ok(Math.abs(sequence.oldLogprobs![t]! - other.oldLogprobs![t]!) < 1e-4);
      assert.ok(Math.abs(sequence.entropies![t]! - other.entropies![t]!) < 1e-4);
    }
  }
  const norm = measured.metrics["actor/grad_norm"]!;
  assert.ok(Math.abs(reused.metrics["actor/grad_norm"]! - norm) < 1e-3 * norm + 1e-6);
});

test("lab.reuse_log_probs measures trajectories that a rounded copy sampled", async (t) => {
  if (!compiledEngine()) return t.skip("LEFT OUT: plain code does not round weights");
  const step = await stepOf("int8");
  assert.equal(step.metrics["actor/reused_log_probs"], 0);
  const apart = step.batch.trajectories.some((sequence) =>
    sequence.trajectory.lossMask.some(
      (m, k) => m && sequence.oldLogprobs![k] !== sequence.trajectory.logprobs[k],
    ),
  );
  assert.ok(apart);
});
