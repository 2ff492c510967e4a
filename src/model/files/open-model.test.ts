import assert from "node:assert/strict";
import { cp, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { temporaryFolder } from "../../../tests/temporary.js";
import { loadDecoder } from "../load/load-decoder.js";
import { loadModel } from "../load/load-model.js";
import { SafetensorsFile } from "./safetensors-file.js";
import { writeSafetensors } from "./write-safetensors.js";

test("of a model with pictures around its text, the text alone is read", async () => {
  const alone = "tests/fixtures/architectures/qwen3_5-own";
  const folder = temporaryFolder("arpo-around");
  await cp(alone, folder, { recursive: true });
  const config = JSON.parse(await readFile(join(alone, "config.json"), "utf8")) as object;
  const around = {
    architectures: ["Qwen3_5ForConditionalGeneration"],
    model_type: "qwen3_5",
    text_config: config,
    vision_config: { depth: 2 },
  };
  await writeFile(join(folder, "config.json"), JSON.stringify(around));
  const stored = await SafetensorsFile.open(join(alone, "model.safetensors"));
  const sources = [...stored.tensors].map(([name, { shape }]) => ({
    name: name.replace(/^model\./, "model.language_model."),
    shape,
    values: () => stored.read(name),
  }));
  const more = ["mtp.norm.weight", "model.visual.blocks.0.norm1.weight"].map((name) => ({
    ...{ name, shape: [3], values: () => new Float32Array(3) },
  }));
  const path = join(folder, "model.safetensors");
  await writeSafetensors(path, [...sources, ...more], { dtype: "bfloat16" });
  const [text, whole] = [await loadModel(alone), await loadModel(folder)];
  assert.deepEqual(whole.config, text.config);
  for (const [name, weight] of text.weights) {
    assert.deepEqual(whole.weights.get(name)!.dataSync(), weight.dataSync(), name);
  }
  const { decoder } = await loadDecoder(folder);
  decoder.dispose();
  await assert.rejects(
    loadDecoder(folder, { dtype: "int8" }),
    /Cannot load a model: dtype must be float32 for this qwen3_5 model, .* got "int8"/,
  );
  const strange = { name: "model.audio.weight", shape: [3], values: () => new Float32Array(3) };
  await writeSafetensors(path, [...sources, strange], { dtype: "bfloat16" });
  await assert.rejects(loadModel(folder), /must have no other weights, got model.audio.weight/);
  await stored.close();
  for (const model of [text, whole]) model.dispose();
  await rm(folder, { recursive: true });
});
