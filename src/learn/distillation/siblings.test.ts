import assert from "node:assert/strict";
import { test } from "node:test";
import { Model } from "../../model/transformer/transformer.js";
import { Policy } from "../../policy/policies.js";
import { score } from "../../reward/score-trees.js";
import { rollout } from "../../rollout/rollout.js";
import { CodePointTokenizer } from "../../rollout/testing/code-point-tokenizer.js";
import { advantages } from "../advantages.js";
import { TrainingBatch } from "../batch.js";
import { update } from "../update/learner.js";
import { rightSibling, siblingPrompts } from "./siblings.js";

const sizes = { vocabSize: 256, hiddenSize: 8, intermediateSize: 16, layers: 1, heads: 2 };

async function rolledOut() {
  const policy = Policy.fromModel(
    Model.init({ ...sizes, contextLength: 512 }, 1),
    new CodePointTokenizer(),
  );
  const tasks = [{ prompt: "6*7?" }, { prompt: "never right" }];
  const trees = await rollout(policy, tasks, { n: 4, seed: 2, responseLength: 6 });
  // The first two trajectories of the first prompt are right.
  let asked = 0;
  const scored = await score(trees, () => Number(asked++ < 2));
  return { policy, scored };
}

test("a policy learns from its own right trajectories, and a prompt without one teaches nothing", async () => {
  const { policy, scored } = await rolledOut();
  const batch = advantages(scored);
  const { metrics } = await update(policy, batch, { teacher: rightSibling() });
  const taught = batch.trajectories.map(({ teacherLogprobs }) => teacherLogprobs !== undefined);
  assert.deepEqual(taught, [true, true, true, true, false, false, false, false]);
  assert.ok(metrics["distillation/tokens"]! > 4 && metrics["distillation/reverse_kl"] !== 0);
  const told = batch.trajectories[4]!;
  assert.deepEqual(told.taughtAdvantages, told.advantages);
  policy.dispose();
});

test("feedback teaches where no sibling is right", async () => {
  const { policy, scored } = await rolledOut();
  const batch = advantages(scored);
  const teacher = rightSibling({
    feedback: ({ trajectory: { tree, id } }) => (tree === 1 && id === 0 ? "not a number" : " "),
  });
  await update(policy, batch, { teacher });
  const taught = batch.trajectories.map(({ teacherLogprobs }) => teacherLogprobs !== undefined);
  assert.deepEqual(taught, [true, true, true, true, true, false, false, false]);
  policy.dispose();
});

test("siblings refuse a batch that does not say what it was scored from, and a prompt without a user", async () => {
  const { policy, scored } = await rolledOut();
  const bare = new TrainingBatch(advantages(scored).trajectories, "grpo");
  await assert.rejects(
    update(policy, bare, { teacher: rightSibling() }),
    /Cannot ask siblings: the batch must say what it was scored from, got none/,
  );
  const prompt = [{ role: "assistant" as const, content: "Hello." }];
  const row = { prompt, group: 0, completion: "42", reward: 1 };
  assert.throws(
    () => siblingPrompts([row, row]),
    /Cannot ask behind a prompt: its last message must be of the role user, got assistant/,
  );
  assert.throws(
    () => rightSibling({ treshold: 1 } as never),
    /got treshold; did you mean threshold\?/,
  );
  policy.dispose();
});
