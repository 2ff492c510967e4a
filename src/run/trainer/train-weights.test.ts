import assert from "node:assert/strict";
import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import type { HfTokenizer } from "../../model/tokenizer/hf-tokenizer.js";
import { setWeightPrecision } from "../../model/precision/set-weight-precision.js";
import type { Model } from "../../model/transformer/transformer.js";
import { packHalf, unpackHalf } from "../../model/files/half.js";
import { Policy } from "../../policy/policies.js";
import { rollout } from "../../rollout/rollout.js";
import { compiledEngine } from "../../tensor/engine/compiled-engine.js";
import { runBytes, smallParts } from "./testing/small-run.js";
import { train } from "./train.js";
import { temporaryFolder } from "../../../tests/temporary.js";

const folder = () => temporaryFolder("arpo-lab-weights");
const kept = ["lab.weights=bfloat16"];

/** A run's parts, with the model's weights kept as the configuration says: what `assemble` does. */
async function parts(overrides: string[] = []) {
  const made = await smallParts([...kept, ...overrides]);
  await setWeightPrecision(made.policy.model, made.config.lab.weights);
  return made;
}

function rounded(model: Model): string[] {
  return [...model.weights].flatMap(([name, weight]) => {
    const values = weight.dataSync() as Float32Array;
    const again = new Float32Array(values.length);
    unpackHalf(packHalf(values, "bfloat16"), "bfloat16", again);
    return values.every((value, i) => Object.is(value, again[i])) ? [] : [name];
  });
}

test("lab.weights=bfloat16 trains: every weight is of bfloat16 after every step, and they move", async () => {
  const made = await parts();
  const { model } = made.policy;
  const before = new Map([...model.weights].map(([name, w]) => [name, w.dataSync().slice()]));
  assert.deepEqual(rounded(model), []);
  let steps = 0;
  await train(made, {
    folder: await folder(),
    onStep: () => {
      steps++;
      assert.deepEqual(rounded(model), []);
    },
  });
  assert.equal(steps, 4);
  const moved = [...model.weights].filter(
    ([name, w]) => `${w.dataSync()}` !== `${before.get(name)}`,
  );
  assert.ok(
    moved.length > model.weights.size / 2,
    `${moved.length} of ${model.weights.size} moved`,
  );
});

test("a checkpoint of bfloat16 weights is half as large, and a run continues from it to the same bytes", async () => {
  const whole = await folder();
  await train(await parts(), { folder: whole });
  const size = async (path: string, step: number) =>
    (await stat(join(path, `global_step_${step}/actor/model.safetensors`))).size;
  const wide = await folder();
  await train(await smallParts(), { folder: wide });
  const share = (await size(whole, 4)) / (await size(wide, 4));
  assert.ok(share < 0.55, `${share} of the bytes`);

  const halves = await folder();
  const cut = train(await parts(), {
    folder: halves,
    onStep: ({ step }) => {
      if (step === 3) throw new Error("pulled the plug");
    },
  });
  await assert.rejects(cut, /pulled the plug/);
  await train(await parts(), { folder: halves });
  assert.deepEqual(await runBytes(halves), await runBytes(whole));
  assert.match(await readFile(join(whole, "config.yaml"), "utf8"), /weights: bfloat16/);
});

test("a sampler in bfloat16 is then the policy itself: as likely, and nothing is corrected", async (t) => {
  if (!compiledEngine()) return t.skip("LEFT OUT: plain code does not round weights");
  const { policy, train: tasks } = await parts();
  const { model, tokenizer } = policy;
  const sequences = async (dtype: "float32" | "bfloat16") => {
    const sampler = Policy.fromModel(model, tokenizer as HfTokenizer, { dtype });
    assert.equal(sampler.sampler, undefined);
    const settings = { n: 2, initialRollouts: 2, responseLength: 12, seed: 1 };
    return (await rollout(sampler, tasks[0]!, settings)).selected;
  };
  const halves = await sequences("bfloat16");
  for (const [i, sequence] of (await sequences("float32")).entries()) {
    assert.deepEqual(halves[i]!.tokens, sequence.tokens);
    for (const [t, logprob] of sequence.logprobs.entries()) {
      assert.ok(Math.abs(halves[i]!.logprobs[t]! - logprob) < 1e-5);
    }
  }
});

test("what weights cannot be kept as is refused by name", async () => {
  const { policy } = await smallParts();
  await assert.rejects(
    setWeightPrecision(policy.model, "float16" as never),
    /Cannot set the weight precision: type must be float32 or bfloat16, got float16/,
  );
  await assert.rejects(smallParts(["lab.weights=half"]), /lab\.weights/);
});
