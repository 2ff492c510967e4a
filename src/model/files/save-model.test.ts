import assert from "node:assert/strict";
import { cp, mkdtemp, readdir, readFile, rm, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { tf } from "../../tensor/tf.js";
import { packHalf, unpackHalf } from "./half.js";
import { loadModel } from "../load/load-model.js";
import { saveModel, saveRandomModel } from "./save-model.js";
import { Model } from "../transformer/transformer.js";
import { writeSafetensors } from "./write-safetensors.js";

const root = await mkdtemp(join(tmpdir(), "arpo-model-"));
after(() => rm(root, { recursive: true }));
const fixtures = "tests/fixtures/models";
const sizes = {
  vocabSize: 30,
  hiddenSize: 8,
  intermediateSize: 12,
  layers: 2,
  heads: 2,
  eosIds: [3, 4],
};

for (const dtype of ["float32", "float16", "bfloat16"] as const) {
  for (const maxShardBytes of [1e9, 900]) {
    test(`loadModel() undoes saveModel() in ${dtype}, shards of ${maxShardBytes}`, async () => {
      const folder = await mkdtemp(join(root, "trip-"));
      for (const family of ["qwen2", "qwen3", "llama"] as const) {
        const model = Model.init({ ...sizes, family, tied: family === "qwen2" }, 1);
        await saveModel(model, folder, { dtype, maxShardBytes });
        const loaded = await loadModel(folder);
        assert.deepEqual(loaded.config, model.config);
        assert.deepEqual(loaded.generation, { eosIds: [3, 4] });
        for (const [name, weight] of model.weights) {
          const wanted = (weight.dataSync() as Float32Array).slice();
          if (dtype !== "float32") unpackHalf(packHalf(wanted, dtype), dtype, wanted);
          assert.deepEqual(loaded.weights.get(name)!.dataSync(), wanted, name);
        }
        loaded.dispose();
        model.dispose();
      }
      const files = (await readdir(folder)).filter((name) => name.startsWith("model"));
      if (maxShardBytes > 1000) assert.deepEqual(files, ["model.safetensors"]);
      else assert.ok(files.length > 3 && files.includes("model.safetensors.index.json"));
    });
  }
}

test("saveRandomModel() writes the weights of Model.init() and needs no model", async () => {
  const folder = await mkdtemp(join(root, "random-"));
  const model = Model.init({ ...sizes, head: "value" }, 6);
  const tensors = tf.memory().numTensors;
  await saveRandomModel(model.config, 6, folder);
  assert.equal(tf.memory().numTensors, tensors);
  const loaded = await loadModel(folder);
  for (const [name, weight] of model.weights) {
    assert.deepEqual(loaded.weights.get(name)!.dataSync(), weight.dataSync(), name);
  }
  for (const made of [model, loaded]) made.dispose();
});

test("saveModel() removes the weights of an earlier save and leaves other files", async () => {
  const folder = await mkdtemp(join(root, "again-"));
  await writeFile(join(folder, "tokenizer.json"), "{}");
  const model = Model.init(sizes, 1);
  await saveModel(model, folder, { maxShardBytes: 900 });
  await saveModel(model, folder);
  assert.deepEqual((await readdir(folder)).sort(), [
    "config.json",
    "generation_config.json",
    "model.safetensors",
    "tokenizer.json",
  ]);
  model.dispose();
});

test("saveModel() refuses weights that are not finite and keeps what was there", async () => {
  const folder = await mkdtemp(join(root, "nan-"));
  const model = Model.init(sizes, 1);
  await saveModel(model, folder);
  const before = await readFile(join(folder, "model.safetensors"));
  const names = await readdir(folder);
  const norm = model.weights.get("model.norm.weight")!;
  norm.assign(tf.fill([8], NaN));
  await assert.rejects(saveModel(model, folder), /finite in float32, got NaN in model.norm.weight/);
  norm.assign(tf.fill([8], 70000));
  await assert.rejects(
    saveModel(model, folder, { dtype: "float16" }),
    /finite in float16, got 70000/,
  );
  await assert.rejects(
    saveModel(model, folder, { maxShardBytes: 0 }),
    /maxShardBytes must be a number above 0, got 0/,
  );
  assert.deepEqual(await readFile(join(folder, "model.safetensors")), before);
  assert.deepEqual(await readdir(folder), names);
  model.dispose();
});

test("loadModel() makes a critic of a language model with a head drawn by the seed", async () => {
  const load = (seed: number) => loadModel(`${fixtures}/llama-f16`, { head: "value", seed });
  const [one, same, other] = [await load(1), await load(1), await load(2)];
  const head = (model: Model) => model.weights.get("score.weight")!.dataSync();
  assert.deepEqual(head(one), head(same));
  assert.notDeepEqual(head(one), head(other));
  assert.equal(one.weights.has("lm_head.weight"), false);
  for (const model of [one, same, other]) model.dispose();
  await assert.rejects(
    loadModel(`${fixtures}/qwen2-value`, { head: "logits" }),
    /lm_head.weight .* got no such tensor/,
  );
});

/** A copy of a fixture to break. */
async function broken(name: string, spoil: (folder: string) => Promise<unknown>): Promise<string> {
  const folder = await mkdtemp(join(root, "broken-"));
  await cp(`${fixtures}/${name}`, folder, { recursive: true });
  await spoil(folder);
  return folder;
}

async function editJson(path: string, change: (json: Record<string, unknown>) => void) {
  const json = JSON.parse(await readFile(path, "utf8")) as Record<string, unknown>;
  change(json);
  await writeFile(path, JSON.stringify(json));
}

test("loadModel() names what is wrong with a folder and leaves nothing half loaded", async () => {
  const tensors = tf.memory().numTensors;
  const refused = async (folder: string, message: RegExp) => {
    await assert.rejects(loadModel(folder), message);
    assert.equal(tf.memory().numTensors, tensors);
  };
  const config = (change: Record<string, unknown>, name = "qwen2") =>
    broken(name, (folder) =>
      editJson(join(folder, "config.json"), (json) => Object.assign(json, change)),
    );

  await refused(join(root, "nowhere"), /config.json must be readable, got ENOENT/);
  await refused(
    await config({ architectures: ["GPT2LMHeadModel"] }),
    /architecture must be one of/,
  );
  await refused(
    await config({ intermediate_size: 41 }),
    /gate_proj.* shape \[41,24\].* got \[40,24\]/,
  );
  await refused(await config({ vocab_size: 97 }), /embed_tokens.* shape \[97,24\].* got \[96,24\]/);
  await refused(await config({ num_hidden_layers: 3 }), /layers.2.* got no such tensor/);
  await refused(await config({ num_hidden_layers: 1 }), /no other weights, got model.layers.1/);
  await refused(
    await config({ tie_word_embeddings: false }),
    /lm_head.weight .* got no such tensor/,
  );
  await refused(
    await config({ architectures: ["LlamaForCausalLM"] }),
    /no other weights, got .*bias/,
  );
  const without = (file: string) => (folder: string) => rm(join(folder, file));
  await refused(
    await broken("qwen2", without("model.safetensors")),
    /must hold model.safetensors or/,
  );
  const shard = "model-00002-of-00004.safetensors";
  await refused(await broken("qwen3-bf16-sharded", without(shard)), /must hold model-00002/);
  const index = "model.safetensors.index.json";
  await refused(
    await broken("qwen3-bf16-sharded", (folder) =>
      editJson(join(folder, index), (json) => {
        (json.weight_map as Record<string, string>)["model.norm.weight"] = "../x.safetensors";
      }),
    ),
    /a shard must lie in the model's folder, got ..\/x.safetensors/,
  );
  await refused(
    await broken("qwen3-bf16-sharded", (folder) =>
      editJson(join(folder, index), (json) => {
        (json.weight_map as Record<string, string>)["model.embed_tokens.weight"] = shard;
      }),
    ),
    /must hold model.embed_tokens.weight as the index says/,
  );
  await refused(
    await broken("qwen2", (folder) => truncate(join(folder, "model.safetensors"), 40_000)),
    /truncated/,
  );
  await refused(
    await broken("qwen2", (folder) =>
      editJson(join(folder, "generation_config.json"), (json) => (json.eos_token_id = ["</s>"])),
    ),
    /eos_token_id must be a token id/,
  );

  const spoilt = await mkdtemp(join(root, "nan-"));
  const model = Model.init(sizes, 1);
  await saveModel(model, spoilt);
  const sources = [...model.weights].map(([name, weight]) => ({
    name,
    shape: weight.shape,
    values: () => {
      const values = (weight.dataSync() as Float32Array).slice();
      if (name === "model.layers.1.mlp.up_proj.weight") values[5] = NaN;
      return values;
    },
  }));
  await writeSafetensors(join(spoilt, "model.safetensors"), sources);
  model.dispose();
  await refused(
    spoilt,
    /weights must be finite, got NaN in model.layers.1.mlp.up_proj.weight at 5/,
  );
});
