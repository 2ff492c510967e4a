import assert from "node:assert/strict";
import { test } from "node:test";
import { rightSibling } from "../../src/learn/distillation/siblings.js";
import { Model } from "../../src/model/transformer/transformer.js";
import { Policy } from "../../src/policy/policies.js";
import { CodePointTokenizer } from "../../src/rollout/testing/code-point-tokenizer.js";
import { loadConfig } from "../../src/run/config/load.js";
import { assemble } from "../../src/run/trainer/assemble.js";
import { trainOn } from "../../src/run/trainer/train-cells.js";
import { Trainer } from "../../src/run/trainer/trainer.js";
import { tasks } from "../../src/tasks/tasks/index.js";
import { ToolSet } from "../../src/tools/tool-set.js";

const sizes = { vocabSize: 256, hiddenSize: 8, intermediateSize: 16, layers: 1, heads: 2 };
const model = (seed: number) => Model.init({ ...sizes, contextLength: 512 }, seed);

test("trainOn() learns from a teacher beside the reward, another model or the policy itself", async () => {
  for (const teacher of [model(2), rightSibling({ threshold: 0 })]) {
    const policy = Policy.fromModel(model(1), new CodePointTokenizer());
    const { steps } = await trainOn(policy, tasks.calc({ train: 2, test: 1 }), {
      ...{ preset: "grpo", steps: 2, prompts: 1, n: 2, live: false, tools: new ToolSet() },
      ...{ responseLength: 6, teacher, distillationCoefficient: 0.5 },
      reward: ({ response }) => response.length,
    });
    for (const { metrics } of steps) {
      assert.ok(metrics["distillation/tokens"]! > 0);
      assert.ok(Number.isFinite(metrics["distillation/reverse_kl"]));
    }
    policy.dispose();
  }
});

test("a configuration names a teacher and what it counts, and the same seed gives the same step", async () => {
  const run = async (coefficient: number) => {
    const { config } = await loadConfig({
      preset: ["grpo", "tiny"],
      overrides: [
        ...["data.train_files=tasks:calc?train=2", "data.val_files=tasks:calc?test=1"],
        ...["data.train_batch_size=1", "actor_rollout_ref.actor.ppo_mini_batch_size=1"],
        ...["actor_rollout_ref.rollout.n=2", "data.max_response_length=8"],
        "distillation.teacher_model.model_path=data/models/tiny",
        `distillation.distillation_loss.distillation_loss_coef=${coefficient}`,
        "distillation.distillation_loss.loss_mode=k2",
        "distillation.distillation_loss.use_policy_gradient=false",
      ],
    });
    const parts = await assemble(config);
    const { metrics, batch } = await new Trainer(parts).next();
    const said = batch.trajectories.map(({ teacherLogprobs }) => [...teacherLogprobs!]);
    parts.policy.model.dispose();
    await parts.tools.dispose();
    return { loss: metrics["actor/distillation_loss"], norm: metrics["actor/grad_norm"], said };
  };
  const [one, again] = [await run(1), await run(1)];
  assert.deepEqual(one, again);
  // The teacher is the policy itself: there is nothing to learn from it yet.
  assert.ok(Math.abs(one.loss!) < 1e-6 && one.said.flat().some((p) => p < 0));
});
