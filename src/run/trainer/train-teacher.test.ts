import assert from "node:assert/strict";
import { test } from "node:test";
import { temporaryFolder } from "../../../tests/temporary.js";
import { rightSibling } from "../../learn/distillation/siblings.js";
import { Model } from "../../model/transformer/transformer.js";
import { runBytes as bytes, smallParts } from "./testing/small-run.js";
import { train, type TrainOptions } from "./train.js";

const folder = () => temporaryFolder("arpo-lab-run");

/** A run of four steps with a teacher: another model, or the policy itself behind a right trajectory. */
async function run(
  path: string,
  teacher: "model" | "itself",
  overrides: string[],
  options: Partial<TrainOptions> = {},
) {
  const parts = await smallParts(overrides);
  const { config } = parts.policy.model!;
  const told = teacher === "model" ? Model.init(config, 8) : rightSibling({ threshold: 0.5 });
  return train({ ...parts, told: { update: { teacher: told } } }, { ...options, folder: path });
}

for (const [teacher, overrides] of [
  ["model", []],
  ["itself", ["lab.distillation_mix=scale"]],
  [
    "model",
    [
      "distillation.distillation_loss.loss_mode=jsd",
      "distillation.distillation_loss.use_policy_gradient=false",
    ],
  ],
] as const) {
  test(`a run with a teacher (${teacher}, ${overrides[0] ?? "as it is"}) that was stopped and resumed ends with the same bytes`, async () => {
    const [whole, stopped, none] = [await folder(), await folder(), await folder()];
    await run(whole, teacher, [...overrides]);
    const onStep: TrainOptions["onStep"] = ({ step }) => {
      if (step === 3) throw new Error("pulled the plug");
    };
    await assert.rejects(run(stopped, teacher, [...overrides], { onStep }), /pulled the plug/);
    const resumed: number[] = [];
    await run(stopped, teacher, [...overrides], { onStep: ({ step }) => void resumed.push(step) });
    assert.deepEqual(resumed, [3, 4]);
    assert.deepEqual(await bytes(stopped), await bytes(whole));
    // The teacher had a part in it.
    await train(await smallParts([...overrides]), { folder: none });
    assert.notDeepEqual(await bytes(none), await bytes(whole));
  });
}
