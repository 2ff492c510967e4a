import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { HfTokenizer } from "../model/tokenizer/hf-tokenizer.js";
import { Model } from "../model/transformer/transformer.js";
import { saveModel } from "../model/files/save-model.js";
import { trainBpe } from "../model/tokenizer/train-bpe.js";
import { Random } from "../base/random/random.js";
import { compiledEngine } from "../tensor/engine/compiled-engine.js";
import { tf } from "../tensor/tf.js";
import { Policy } from "./policies.js";

const files = trainBpe(["a search for the search of searching"], {
  vocabSize: 280,
  addedTokens: ["<search>", "</search>"],
});
const sizes = { hiddenSize: 32, intermediateSize: 48, layers: 2, heads: 4, kvHeads: 2 };
const config = { ...sizes, vocabSize: 288, contextLength: 200, initializerRange: 0.3 };

async function continued(policy: Policy, count = 20): Promise<string> {
  const session = policy.session();
  const sequence = session.open(policy.tokenizer.encode("the search"));
  const random = Random.from(5).split("sample").split(0);
  const segment = await session.generate(sequence, { maxTokens: count, random });
  session.dispose();
  return [...segment.tokens, ...segment.logprobs, ...segment.entropies].join();
}

test("Policy.load() reads a folder and continues as the model it was saved from", async () => {
  const folder = await mkdtemp(join(tmpdir(), "arpo-"));
  const tokenizer = new HfTokenizer(files);
  const model = Model.init({ ...config, eosIds: [tokenizer.eosId] }, 3);
  await saveModel(model, folder);
  await writeFile(join(folder, "tokenizer.json"), JSON.stringify(files.tokenizer));
  await writeFile(join(folder, "tokenizer_config.json"), JSON.stringify(files.config));
  const loaded = await Policy.load(folder, { name: "saved" });
  const made = Policy.fromModel(model, tokenizer);
  assert.equal(loaded.name, "saved");
  assert.equal(loaded.contextLength, 200);
  assert.equal(await continued(loaded), await continued(made));
  assert.equal(loaded.bytes(), 0);
  loaded.dispose();
  made.dispose();
  for (const dtype of ["bfloat16", "int8"] as const) {
    const narrow = await Policy.load(folder, { dtype });
    const session = narrow.session();
    const sequence = session.open(narrow.tokenizer.encode("low"));
    const { tokens } = await session.generate(sequence, { maxTokens: 4, random: Random.from(7) });
    assert.ok(tokens.length >= 1 && tokens.length <= 4);
    session.dispose();
    narrow.dispose();
  }
  await assert.rejects(Policy.load(join(folder, "nowhere")), /Cannot load/);
  await rm(folder, { recursive: true });
});

test("Policy.fromModel() with a dtype samples from a rounded copy that follows the model", async () => {
  const tokenizer = new HfTokenizer(files);
  const model = Model.init({ ...config, eosIds: [tokenizer.eosId] }, 3);
  const exact = Policy.fromModel(model, tokenizer);
  const rounded = Policy.fromModel(model, tokenizer, { dtype: "int8" });
  const before = await continued(rounded);
  assert.equal(exact.sampler, undefined);
  if (compiledEngine()) {
    assert.equal(rounded.sampler, "int8");
    assert.notEqual(before, await continued(exact));
  } else {
    // Plain code keeps the weights as they are.
    assert.equal(rounded.sampler, undefined);
    assert.equal(before, await continued(exact));
  }
  const weight = model.weights.get("model.layers.1.mlp.down_proj.weight")!;
  tf.tidy(() => weight.assign(weight.mul(-2)));
  model.changed();
  assert.notEqual(await continued(rounded), before);
  assert.throws(
    () => Policy.fromModel(model, tokenizer, { dtype: "int4" as never }),
    /dtype must be one of float32, bfloat16, int8, q4, w8a8, w4a8, w16a16, got "int4"/,
  );
  rounded.dispose();
});

test("Policy.fromModel() with a cache of halves is a sampler of its own, that an update corrects for", async () => {
  const tokenizer = new HfTokenizer(files);
  const model = Model.init({ ...config, eosIds: [tokenizer.eosId] }, 3);
  const halves = Policy.fromModel(model, tokenizer, { cache: "float16" });
  assert.equal(halves.sampler, "float16");
  assert.ok((await continued(halves)).length > 0);
  assert.throws(
    () => Policy.fromModel(model, tokenizer, { cache: "float8" as never }),
    /Cannot make a policy: cache must be one of float32, float16, got "float8"/,
  );
  halves.dispose();
});

test("Policy.fromModel() samples only ids that the tokenizer knows", async () => {
  const tokenizer = new HfTokenizer(files);
  const policy = Policy.fromModel(Model.init(config, 4), tokenizer);
  const session = policy.session();
  const sequences = Array.from({ length: 20 }, () => session.open([65]));
  const segments = await Promise.all(
    sequences.map((sequence, i) =>
      session.generate(sequence, { maxTokens: 100, temperature: 3, random: Random.from(i) }),
    ),
  );
  const drawn = segments.flatMap((segment) => [...segment.tokens]);
  assert.ok(drawn.length > 500);
  assert.ok(drawn.every((id) => id < tokenizer.vocabSize));
  policy.dispose();
});

test("Policy.fromModel() gives a sequence the same bytes alone and in a bigger batch", async () => {
  const tokenizer = new HfTokenizer(files);
  const policy = Policy.fromModel(Model.init(config, 5), tokenizer);
  const alone = await continued(policy);
  const session = policy.session();
  const others = Array.from({ length: 9 }, (_, i) => session.open([65, 66 + i, 67]));
  const busy = others.map((sequence, i) =>
    session.generate(sequence, { maxTokens: 30 + i, random: Random.from(100 + i) }),
  );
  assert.equal(await continued(policy), alone);
  await Promise.all(busy);
  session.dispose();
  assert.equal(policy.bytes(), 0);
  policy.dispose();
});

test("Policy.fromModel() decodes with the new weights after training", async () => {
  const tokenizer = new HfTokenizer(files);
  const model = Model.init(config, 6);
  const policy = Policy.fromModel(model, tokenizer);
  const before = await continued(policy);
  const weight = model.weights.get("model.layers.1.mlp.down_proj.weight")!;
  tf.tidy(() => weight.assign(weight.mul(-2)));
  model.changed();
  const after = await continued(policy);
  assert.notEqual(after, before);
  assert.equal(await continued(Policy.fromModel(model.copy(), tokenizer)), after);
  policy.dispose();
});
