import assert from "node:assert/strict";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { gradientsOf } from "../../tensor/gradients.js";
import { ready } from "../../tensor/backends.js";
import { tf } from "../../tensor/tf.js";
import { Random } from "../../base/random/random.js";
import { addLora } from "./add-lora.js";
import type { ModelConfigInput } from "../config.js";
import { decoderWeights } from "../decoder/of-model.js";
import { loadAdapter } from "./load-adapter.js";
import { loadModel } from "../load/load-model.js";
import type { LoraOptions } from "../transformer/lora.js";
import { mergeLora, unmergeLora } from "./merge-lora.js";
import { saveAdapter } from "./save-adapter.js";
import { saveModel } from "../files/save-model.js";
import { shareRows } from "../transformer/sharing.js";
import { Model } from "../transformer/transformer.js";
import { SafetensorsFile } from "../files/safetensors-file.js";
import { writeSafetensors } from "../files/write-safetensors.js";

await ready();
const sizes = {
  ...{ vocabSize: 40, hiddenSize: 16, intermediateSize: 24, layers: 2, heads: 4, kvHeads: 2 },
  ...{ contextLength: 32, initializerRange: 0.3 },
};
const rows = [
  [5, 6, 7],
  [1, 2, 3, 4, 9, 8, 7],
];

/** A model whose biases and norms are not those of a fresh one. */
function base(input: Partial<ModelConfigInput> = {}): Model {
  const model = Model.init({ ...sizes, ...input }, 3);
  const random = Random.from(6);
  for (const [name, weight] of model.weights) {
    if (!/bias$|norm\.weight$/.test(name)) continue;
    const values = Float32Array.from({ length: weight.size }, () => 0.5 + random.uniform());
    tf.tidy(() => weight.assign(tf.tensor(values, weight.shape)));
  }
  return model;
}

/** A model whose adapters say something. */
function adaptedModel(options: Partial<LoraOptions> = {}, family: "qwen2" | "qwen3" = "qwen2") {
  const model = base({ family });
  const lora = addLora(model, { rank: 3, alpha: 6, ...options });
  const random = Random.from(5);
  for (const [name, weight] of lora.weights) {
    if (!name.endsWith("lora_B.weight")) continue;
    const values = Float32Array.from({ length: weight.size }, () => 0.2 * random.normal());
    tf.tidy(() => weight.assign(tf.tensor(values, weight.shape)));
  }
  return { model, lora };
}

const logits = (model: Model) =>
  tf.tidy(() => Float32Array.from(model.logits(model.forward(model.batch(rows))).dataSync()));

const snapshot = (model: Model) =>
  [...model.weights.values()].map((weight) => Float32Array.from(weight.dataSync()));

function furthest(a: ArrayLike<number>, b: ArrayLike<number>): number {
  assert.equal(a.length, b.length);
  return Array.from(a).reduce((most, x, i) => Math.max(most, Math.abs(x - b[i]!)), 0);
}

function loss(model: Model, options: { checkpointing?: boolean } = {}): tf.Scalar {
  const labels = tf.tensor2d(rows.map((row) => [...row.slice(1), 0, 0, 0, 0, 0].slice(0, 7)), [2, 7], "int32"); // prettier-ignore
  const { logprobs, entropies } = model.logProbs(model.batch(rows), labels, options);
  return logprobs.mean().add(entropies.mean().mul(0.3)).asScalar();
}

test("addLora() changes nothing at first and leaves only A and B to be trained", () => {
  const plain = base();
  const model = base();
  const lora = addLora(model, { rank: 3, alpha: 6, seed: 2 });
  assert.ok(furthest(logits(model), logits(plain)) < 1e-5);
  assert.equal(model.trainable, lora.weights);
  assert.equal(lora.weights.size, 2 * 7 * 2);
  const a = lora.weights.get("model.layers.1.mlp.down_proj.lora_A.weight")!;
  const values = Array.from(a.dataSync());
  const bound = 1 / Math.sqrt(24);
  assert.ok(values.every((value) => Math.abs(value) <= bound));
  assert.ok(Math.max(...values) > 0.8 * bound && Math.min(...values) < -0.8 * bound);
  const again = addLora(plain, { rank: 3, alpha: 6, seed: 2 });
  assert.deepEqual(again.weights.get("model.layers.1.mlp.down_proj.lora_A.weight")!.dataSync(), a.dataSync()); // prettier-ignore
  assert.throws(() => addLora(model, { rank: 3, alpha: 6 }), /must not have adapters yet, got some of rank 3/); // prettier-ignore
  model.dispose();
  plain.dispose();
});

for (const family of ["qwen2", "qwen3"] as const) {
  for (const options of [{}, { rslora: true, targetModules: "q_proj,down_proj" }]) {
    const title = `${family}, ${JSON.stringify(options)}`;
    test(`mergeLora() gives the same logits and unmergeLora() the weights (${title})`, () => {
      const { model, lora } = adaptedModel(options, family);
      const before = snapshot(model);
      const apart = logits(model);
      const bare = base({ family });
      assert.ok(furthest(apart, logits(bare)) > 0.1); // the adapters say something
      const decoding = decoderWeights(model);
      const copied = model.copy();
      assert.deepEqual(snapshot(model), before); // bit for bit
      mergeLora(model);
      assert.ok(furthest(apart, logits(model)) < 1e-5 * Math.max(1, ...apart.map(Math.abs)));
      assert.ok(furthest(apart, logits(copied)) < 1e-5 * Math.max(1, ...apart.map(Math.abs)));
      const down = model.weights.get("model.layers.1.mlp.down_proj.weight")!.dataSync();
      assert.deepEqual(decoding.layers[1]!.down, down);
      assert.notDeepEqual(snapshot(model), before);
      assert.throws(() => model.trainable, /adapters must not be merged/);
      assert.throws(() => mergeLora(model), /must have unmerged adapters, got merged ones/);
      unmergeLora(model);
      const after = snapshot(model);
      before.forEach((values, i) => assert.ok(furthest(values, after[i]!) < 1e-6));
      assert.ok(furthest(apart, logits(model)) < 1e-4);
      assert.equal(model.trainable, lora.weights);
      for (const one of [model, bare, copied]) one.dispose();
    });
  }

  test(`gradients reach the adapters alone and are those of the weights they add to (${family})`, () => {
    const { model, lora } = adaptedModel({}, family);
    const { gradients } = gradientsOf(() => tf.tidy(() => loss(model)), model.trainable);
    assert.deepEqual(Object.keys(gradients).sort(), [...lora.weights.keys()].sort());
    const again = gradientsOf(() => tf.tidy(() => loss(model, { checkpointing: true })), model.trainable).gradients; // prettier-ignore
    // Of W + s B A: dA = s B^T dW and dB = s dW A^T, with dW from a model without adapters.
    const whole = model.copy();
    const full = gradientsOf(() => tf.tidy(() => loss(whole)), whole.weights).gradients;
    for (const [name, gradient] of Object.entries(gradients)) {
      const stem = name.replace(/\.lora_[AB]\.weight$/, "");
      const dw = full[`${stem}.weight`] as tf.Tensor2D;
      const a = lora.weights.get(`${stem}.lora_A.weight`) as unknown as tf.Tensor2D;
      const b = lora.weights.get(`${stem}.lora_B.weight`) as unknown as tf.Tensor2D;
      const expected = name.endsWith("lora_A.weight")
        ? tf.matMul(b, dw, true, false).mul(lora.scale)
        : tf.matMul(dw, a, false, true).mul(lora.scale);
      assert.deepEqual(gradient.shape, expected.shape);
      const values = expected.dataSync();
      const tolerance = 1e-5 * Math.max(1, ...values.map(Math.abs));
      assert.ok(furthest(gradient.dataSync(), values) < tolerance, name);
      assert.ok(furthest(again[name]!.dataSync(), values) < tolerance, `${name}, checkpointing`);
      assert.ok(values.some((value) => Math.abs(value) > 1e-4), name); // prettier-ignore
    }
    model.dispose();
    whole.dispose();
  });
}

test("gradients of adapters are those of finite differences", () => {
  const { model, lora } = adaptedModel();
  const { gradients } = gradientsOf(() => tf.tidy(() => loss(model)), model.trainable);
  for (const part of [
    "self_attn.k_proj.lora_A",
    "mlp.gate_proj.lora_B",
    "self_attn.o_proj.lora_B",
  ]) {
    const name = `model.layers.0.${part}.weight`;
    const weight = lora.weights.get(name)!;
    const gradient = gradients[name]!.dataSync();
    const values = Float32Array.from(weight.dataSync());
    const at = gradient.indexOf([...gradient].sort((x, y) => Math.abs(y) - Math.abs(x))[0]!);
    const moved = (by: number) => {
      const changed = Float32Array.from(values);
      changed[at]! += by;
      tf.tidy(() => weight.assign(tf.tensor(changed, weight.shape)));
      return tf.tidy(() => loss(model).dataSync()[0]!);
    };
    const slope = (moved(0.01) - moved(-0.01)) / 0.02;
    moved(0);
    assert.ok(Math.abs(slope - gradient[at]!) < 0.02 * Math.abs(slope) + 1e-4, `${name}: ${slope} and ${gradient[at]}`); // prettier-ignore
  }
  model.dispose();
});

test("shared sequences and checkpointing go through adapters as apart", () => {
  const { model } = adaptedModel();
  const apart = logits(model);
  const { batch, index, time } = shareRows(rows, model.config);
  for (const checkpointing of [false, true]) {
    const shared = model.logits(model.forward(batch, { checkpointing })).dataSync();
    rows.forEach((row, r) => {
      for (let t = 0; t < row.length; t++) {
        const from = index[r * time + t]! * 40;
        const here = apart.subarray((r * time + t) * 40, (r * time + t + 1) * 40);
        assert.ok(furthest(shared.slice(from, from + 40), here) < 1e-4);
      }
    });
  }
  model.dispose();
});

test("saveAdapter() and loadAdapter() keep everything, in PEFT's files", async () => {
  const folder = await mkdtemp(join(tmpdir(), "arpo-lora-"));
  const { model, lora } = adaptedModel({ rslora: true, targetModules: ["v_proj", "q_proj"] });
  await saveAdapter(model, folder, { base: "some/base" });
  const json = JSON.parse(await readFile(join(folder, "adapter_config.json"), "utf8")) as object;
  const expected = {
    ...{ peft_type: "LORA", r: 3, lora_alpha: 6, use_rslora: true },
    ...{ target_modules: ["q_proj", "v_proj"], base_model_name_or_path: "some/base" },
  };
  assert.deepEqual({ ...json, ...expected }, json);
  const file = await SafetensorsFile.open(join(folder, "adapter_model.safetensors"));
  const key = "base_model.model.model.layers.1.self_attn.v_proj.lora_B.weight";
  assert.deepEqual(file.tensors.get(key)?.shape, [8, 3]);
  await file.close();
  const other = base();
  const loaded = await loadAdapter(other, folder);
  assert.equal(loaded.scale, lora.scale);
  assert.deepEqual(logits(other), logits(model));
  // Into adapters that are there, as a resumed run does.
  const third = base();
  const there = addLora(third, { rank: 3, alpha: 6, rslora: true, targetModules: ["q_proj", "v_proj"] }); // prettier-ignore
  assert.equal(await loadAdapter(third, folder), there);
  assert.deepEqual(logits(third), logits(model));
  // A model's folder holds what the adapters add.
  await saveModel(model, folder);
  const merged = await loadModel(folder);
  assert.ok(furthest(logits(merged), logits(model)) < 1e-4);
  for (const one of [model, other, third, merged]) one.dispose();
  await rm(folder, { recursive: true });
});

test("adapters that cannot be are refused with the reason", async () => {
  const folder = await mkdtemp(join(tmpdir(), "arpo-lora-"));
  const model = base();
  const add = (options: Partial<LoraOptions>) => () =>
    addLora(model, { rank: 2, alpha: 4, ...options });
  assert.throws(add({ rank: 0 }), /rank must be an integer of at least 1, got 0/);
  assert.throws(add({ rank: 1.5 }), /rank must be an integer of at least 1, got 1.5/);
  assert.throws(add({ alpha: 0 }), /alpha must be a finite number above 0, got 0/);
  assert.throws(add({ targetModules: ["q_proj", "lm_head"] }), /among q_proj.*, got lm_head/);
  assert.throws(add({ targetModules: [] }), /got none/);
  const critic = base({ head: "value" });
  assert.throws(() => addLora(critic, { rank: 2, alpha: 4 }), /must have head "logits"/);
  assert.throws(() => mergeLora(model), /must have unmerged adapters, got none/);
  await assert.rejects(saveAdapter(model, folder), /the model must have one, got none/);
  await assert.rejects(loadAdapter(model, folder), /adapter_config.json must be readable/);

  const { model: other } = adaptedModel();
  await saveAdapter(other, folder);
  const config = join(folder, "adapter_config.json");
  const weights = join(folder, "adapter_model.safetensors");
  const good = JSON.parse(await readFile(config, "utf8")) as object;
  const wrong = async (change: object, expected: RegExp) => {
    await writeFile(config, JSON.stringify({ ...good, ...change }));
    await assert.rejects(loadAdapter(model, folder), expected);
    assert.equal(model.lora, undefined);
  };
  await wrong({ peft_type: "IA3" }, /peft_type must be LORA .*got "IA3"/);
  await wrong({ use_dora: true }, /use_dora must be unset/);
  await wrong({ rank_pattern: { q_proj: 4 } }, /rank_pattern must be unset/);
  await wrong({ bias: "all" }, /bias must be unset/);
  await wrong({ modules_to_save: ["lm_head"] }, /modules_to_save must be unset/);
  await wrong({ r: 0 }, /the rank must be a positive integer, got 0/);
  await wrong({ r: 4 }, /lora_A.weight must have shape \[4,16\] .*got \[3,16\]/);
  await wrong({ target_modules: ["q_proj"] }, /target_modules alone, got base_model/);
  await writeFile(config, JSON.stringify(good));
  const wide = base({ intermediateSize: 32 });
  await assert.rejects(loadAdapter(wide, folder), /must have shape .*got \[/);
  const deep = base({ layers: 3 });
  await assert.rejects(loadAdapter(deep, folder), /must hold .*layers\.2.*no such tensor/);
  const shallow = base({ layers: 1 });
  await assert.rejects(loadAdapter(shallow, folder), /got base_model.model.model.layers.1/);
  addLora(wide, { rank: 2, alpha: 4 });
  const same = base();
  addLora(same, { rank: 2, alpha: 4 });
  await assert.rejects(loadAdapter(same, folder), /no adapters or ones of rank 3.*got rank 2/);
  await writeSafetensors(weights, []);
  await assert.rejects(loadAdapter(model, folder), /must hold an adapter, got none/);
  await rm(weights);
  await assert.rejects(loadAdapter(model, folder), /must exist, got no such file/);
  for (const one of [model, critic, other, wide, deep, shallow, same]) one.dispose();
  await rm(folder, { recursive: true });
});
