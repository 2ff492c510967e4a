// Models with layers of linear attention (Qwen3.5): rollouts that branch, updates, adapters and resumed runs.
import assert from "node:assert/strict";
import { test } from "node:test";
import { temporaryFolder } from "../../../tests/temporary.js";
import type { ModelConfigInput } from "../../model/config.js";
import { addLora } from "../../model/lora/add-lora.js";
import { Policy } from "../../policy/policies.js";
import { rollout } from "../../rollout/rollout.js";
import { runBytes, smallParts } from "./testing/small-run.js";
import { train } from "./train.js";

const shape: Partial<ModelConfigInput> = {
  ...{ family: "qwen3_5", layers: 3, kvHeads: 1, headDim: 8, rotaryDim: 2 },
  linear: {
    layers: [true, false, true],
    ...{ keyHeads: 1, valueHeads: 2, keyDim: 6, valueDim: 4, taps: 4 },
  },
};
const parts = (overrides: string[] = []) => smallParts(overrides, shape);
const folder = () => temporaryFolder("arpo-lab-linear");

test("a model with linear attention trains, and a run that was stopped ends with the same bytes", async () => {
  const whole = folder();
  await train(await parts(), { folder: whole });
  const expected = await runBytes(whole);
  const path = folder();
  const stopped = train(await parts(), {
    folder: path,
    onStep: ({ step }) => {
      if (step === 3) throw new Error("pulled the plug");
    },
  });
  await assert.rejects(stopped, /pulled the plug/);
  await train(await parts(), { folder: path });
  assert.deepEqual(await runBytes(path), expected);
});

test("branches that cut a trajectory and go on have the log-probabilities of the model that trains", async () => {
  const made = await parts();
  const policy = Policy.fromModel(made.policy.model, made.policy.tokenizer);
  const tree = await rollout(
    policy,
    { prompt: "12 + 34" },
    { rule: "redraw", n: 6, initialRollouts: 2, responseLength: 80, seed: 3 },
  );
  const branches = tree.trajectories.filter(({ kind }) => kind === "branch");
  assert.ok(branches.length === 4 && branches.some(({ chosen }) => chosen!.at > 16));
  for (const { leaf } of tree.trajectories) {
    const path = tree.path(leaf).filter(({ kind }) => kind === "model");
    const tokens = path.flatMap((node) => [...node.tokens]);
    const sampled = path.flatMap((node) => [...node.logprobs]);
    const [again] = await policy.logProbs([{ prompt: tree.prompt.tokens, tokens }]);
    sampled.forEach((value, i) => assert.ok(Math.abs(value - again!.logprobs[i]!) < 1e-4));
  }
});

test("beginnings that are shared leave gradients as they are", async () => {
  const found: number[][] = [];
  for (const shared of [true, false]) {
    const norms: number[] = [];
    await train(await parts([`lab.share_prefixes=${shared}`]), {
      folder: folder(),
      onStep: ({ metrics }) => void norms.push(metrics["actor/grad_norm"]!),
    });
    found.push(norms);
  }
  const [together, apart] = found as [number[], number[]];
  assert.ok(together.some((norm) => norm > 0));
  together.forEach((norm, i) => assert.ok(Math.abs(norm - apart[i]!) <= 1e-4 * norm, `step ${i}`));
});

test("adapters of linear attention's projections train, and only they", async () => {
  const made = await parts(["actor_rollout_ref.model.lora_rank=2"]);
  const { model } = made.policy;
  const lora = addLora(model, { rank: 2, alpha: 4 });
  assert.ok(lora.targetModules.includes("in_proj_qkv") && lora.targetModules.includes("out_proj"));
  const values = (of: typeof model.weights) => [...of.values()].map((w) => `${w.dataSync()}`);
  const before = values(model.weights);
  const b = lora.weights.get("model.layers.0.linear_attn.in_proj_qkv.lora_B.weight")!;
  assert.ok(b.dataSync().every((value) => value === 0));
  await train(made, { folder: folder() });
  assert.deepEqual(values(model.weights), before);
  assert.ok(b.dataSync().some((value) => value !== 0));
});
