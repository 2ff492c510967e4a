import assert from "node:assert/strict";
import { test } from "node:test";
import { temporaryFolder } from "../../../tests/temporary.js";
import { tasks } from "../../tasks/tasks/index.js";
import { Model } from "../../model/transformer/transformer.js";
import type { Policy } from "../../policy/policies.js";
import { familyTokenizer } from "../../rollout/testing/family-tokenizer.js";
import { ScriptedPolicy } from "../../rollout/testing/scripted-policy.js";
import { calculator } from "../../tools/calculator/calculator.js";
import { ToolSet } from "../../tools/tool-set.js";
import { loadConfig } from "../config/load.js";
import { rolloutOptions } from "./options.js";
import { train } from "./train.js";
import type { TrainerStep } from "./trainer.js";

const key = "actor_rollout_ref.rollout.tools.calls";
const load = (overrides: string[]) => loadConfig({ preset: ["arpo", "tiny"], overrides });

test("tools.calls: a run's model calls as its chat template shows, where the configuration says so", async () => {
  const tokenizer = familyTokenizer("qwen2_5", "<|im_end|>");
  const sizes = { hiddenSize: 8, intermediateSize: 16, layers: 1, heads: 2, contextLength: 2048 };
  const model = Model.init({ vocabSize: tokenizer.vocabSize, ...sizes }, 1);
  const call = '<tool_call>\n{"name": "calc", "arguments": {"input": "6*7"}}\n</tool_call>';
  const scripted = new ScriptedPolicy(
    ({ turn }) => ({ text: `${turn === 0 ? call : "It is 42."}<|im_end|>` }),
    { tokenizer },
  );
  const dispose = () => model.dispose();
  const policy = Object.assign(scripted, { model, dispose }) as unknown as Policy & {
    readonly model: Model;
  };
  const { config } = await load([
    `${key}=auto`,
    ...["data.train_batch_size=1", "actor_rollout_ref.actor.ppo_mini_batch_size=1"],
    ...["actor_rollout_ref.rollout.n=2", "actor_rollout_ref.rollout.initial_rollouts=1"],
    ...["data.max_prompt_length=1500", "data.max_response_length=400"],
    ...["trainer.total_training_steps=1", "trainer.val_before_train=false"],
  ]);
  const set = tasks.calc({ train: 1, test: 1 });
  const tools = new ToolSet([calculator()]);
  const steps: TrainerStep[] = [];
  await train(
    {
      ...{ config, policy, tools, train: set.train, validation: set.test },
      reward: ({ response }) => Number(response.includes("42")),
    },
    { folder: temporaryFolder("native-calls"), onStep: (step) => void steps.push(step) },
  );
  const [tree] = steps[0]!.trees;
  assert.equal(tree!.config.calls, "hermes");
  assert.match(tree!.prompt.text, /# Tools[^]*"name": "calc"/);
  for (const { toolCalls } of tree!.trajectories) {
    assert.ok(toolCalls.length > 0 && toolCalls.every(({ text }) => text === "42"));
  }
  policy.model.dispose();
});

test("tools.calls is tags unless it is set, and one of the formats", async () => {
  assert.equal(rolloutOptions((await load([])).config).calls, undefined);
  assert.equal(rolloutOptions((await load([`${key}=xml`])).config).calls, "xml");
  await assert.rejects(load([`${key}=yaml`]), /tools\.calls must be one of .*hermes.*got "yaml"/);
});
