import assert from "node:assert/strict";
import { cp, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { addLora } from "../../model/lora/add-lora.js";
import { loadModel } from "../../model/load/load-model.js";
import { Model } from "../../model/transformer/transformer.js";
import { saveAdapter } from "../../model/lora/save-adapter.js";
import { saveModel } from "../../model/files/save-model.js";
import { tf } from "../../tensor/tf.js";
import { convertCheckpoint } from "./convert-checkpoint.js";

const root = await mkdtemp(join(tmpdir(), "arpo-adapter-"));
after(() => rm(root, { recursive: true }));
const at = (name: string) => join(root, name);

const sizes = { vocabSize: 50, hiddenSize: 16, intermediateSize: 32, layers: 2, heads: 2 };
const model = Model.init({ ...sizes, qkvBias: true, initializerRange: 0.3 }, 1);
await saveModel(model, at("base"));
for (const [name, rslora] of [
  ["plain", false],
  ["rslora", true],
] as const) {
  const own = model.copy();
  const lora = addLora(own, { rank: 3, alpha: 5, rslora, targetModules: ["q_proj", "down_proj"] });
  for (const [weight, variable] of lora.weights) {
    if (weight.includes("lora_B")) variable.assign(tf.randomNormal(variable.shape, 0, 1, "float32", 3)); // prettier-ignore
  }
  await saveAdapter(own, at(name));
  await saveModel(own, at(`${name}-saved`));
}

const values = async (folder: string) => {
  const { weights } = await loadModel(folder);
  return new Map([...weights].map(([name, weight]) => [name, [...weight.dataSync()]]));
};

for (const name of ["plain", "rslora"]) {
  test(`convertCheckpoint() with lora adds what the adapters add: ${name}`, async () => {
    const { dtype } = await convertCheckpoint(at("base"), at(`${name}-to`), { lora: at(name) });
    assert.equal(dtype, "float32");
    const [base, found, wanted] = await Promise.all(
      ["base", `${name}-to`, `${name}-saved`].map((folder) => values(at(folder))),
    );
    for (const [weight, list] of found!) {
      const moved = list.some((x, i) => Math.abs(x - base!.get(weight)![i]!) > 0.1);
      assert.equal(moved, /q_proj.weight|down_proj/.test(weight), weight);
      list.forEach((x, i) => assert.ok(Math.abs(x - wanted!.get(weight)![i]!) < 1e-5, weight));
    }
  });
}

test("convertCheckpoint() refuses adapters that do not fit or cannot be read, and writes nothing", async () => {
  const to = at("refused");
  const refuses = (lora: string, rule: RegExp, from = at("base")) =>
    assert.rejects(convertCheckpoint(from, to, { lora }), rule);
  await refuses(at("none"), /adapter_config\.json/);
  const broken = async (name: string, change: object) => {
    await cp(at("plain"), at(name), { recursive: true });
    const path = join(at(name), "adapter_config.json");
    const config = JSON.parse(await readFile(path, "utf8")) as object;
    await writeFile(path, JSON.stringify({ ...config, ...change }));
    return at(name);
  };
  await refuses(await broken("dora", { use_dora: true }), /use_dora must be unset/);
  await refuses(await broken("rank", { r: 4 }), /must have shape \[4,16\], got \[3,16\]/);
  await refuses(await broken("zero", { r: 0 }), /r must be a whole number/);
  const empty = await broken("empty", {});
  await rm(join(empty, "adapter_model.safetensors"));
  await refuses(empty, /adapter_model\.safetensors/);
  await saveModel(Model.init({ ...sizes, layers: 1 }, 1), at("small"));
  await refuses(at("plain"), /must have the matrix that .*layers\.1.* adds to/, at("small"));
  await assert.rejects(readFile(join(to, "config.json")), /ENOENT/);
});

test("convertCheckpoint() says what is in the way of its folder", async () => {
  const file = at("file");
  await writeFile(file, "");
  for (const to of [file, join(file, "below")]) {
    await assert.rejects(
      convertCheckpoint(at("base"), to),
      /Cannot write a model: .*file.* must be a folder that can be written, got (EEXIST|ENOTDIR)/,
    );
  }
});
