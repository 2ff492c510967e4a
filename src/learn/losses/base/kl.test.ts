import assert from "node:assert/strict";
import { test } from "node:test";
import { Random } from "../../../base/random/random.js";
import { klInReward } from "./kl.js";
import { klKinds } from "./options.js";

test("a penalty of KL is each trajectory's own, however long the others are", async () => {
  const random = Random.from(4);
  const row = (length: number, of: () => number) => Float64Array.from({ length }, of);
  const lengths = [3, 7, 1, 5];
  const logprobs = () => lengths.map((length) => row(length, () => -3 * random.uniform()));
  const batch = {
    scores: lengths.map((length) => row(length, () => random.uniform())),
    oldLogprobs: logprobs(),
    refLogprobs: logprobs(),
    mask: lengths.map((length) => row(length, () => Number(random.uniform() < 0.8))),
  };
  const control = { type: "fixed", coefficient: 0.3 } as const;
  for (const kind of klKinds) {
    const { rewards, metrics } = await klInReward(batch, { kind, control });
    const alone = await Promise.all(
      lengths.map((_, i) =>
        klInReward(
          {
            scores: [batch.scores[i]!],
            oldLogprobs: [batch.oldLogprobs[i]!],
            refLogprobs: [batch.refLogprobs[i]!],
            mask: [batch.mask[i]!],
          },
          { kind, control },
        ),
      ),
    );
    assert.deepEqual(
      rewards.map((own) => Array.from(own)),
      alone.map((one) => Array.from(one.rewards[0]!)),
    );
    const mean = alone.reduce((sum, one) => sum + one.metrics["actor/reward_kl_penalty"]!, 0) / 4;
    assert.ok(Math.abs(metrics["actor/reward_kl_penalty"]! - mean) < 1e-6, kind);
  }
});
