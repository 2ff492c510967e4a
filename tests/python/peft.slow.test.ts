// Adapters we write, peft loads, and the other way round: needs a Python with peft and transformers
// (ARPO_LAB_PYTHON, else python3) and is skipped, saying so, where there is none.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { compareCheckpoints } from "../../src/interop/convert/compare-checkpoints.js";
import { convertCheckpoint } from "../../src/interop/convert/convert-checkpoint.js";
import { addLora } from "../../src/model/lora/add-lora.js";
import { loadAdapter } from "../../src/model/lora/load-adapter.js";
import { loadModel } from "../../src/model/load/load-model.js";
import { Model } from "../../src/model/transformer/transformer.js";
import { SafetensorsFile } from "../../src/model/files/safetensors-file.js";
import { saveAdapter } from "../../src/model/lora/save-adapter.js";
import { saveModel } from "../../src/model/files/save-model.js";
import { writeSafetensors } from "../../src/model/files/write-safetensors.js";
import { Random } from "../../src/base/random/random.js";
import { ready } from "../../src/tensor/backends.js";
import { tf } from "../../src/tensor/tf.js";

const python = process.env.ARPO_LAB_PYTHON ?? "python3";
const { status } = spawnSync(python, ["-c", "import peft, transformers"]);
const skip = status === 0 ? false : `${python} has no peft; set ARPO_LAB_PYTHON to one that has`;

const sizes = {
  ...{ vocabSize: 64, hiddenSize: 24, intermediateSize: 40, layers: 2, heads: 4, kvHeads: 2 },
  ...{ contextLength: 128, initializerRange: 0.2 },
};
const ids = [[1, 2, 3, 4, 5, 9, 8, 7]];

const logits = (model: Model) =>
  tf.tidy(() => Float32Array.from(model.logits(model.forward(model.batch(ids))).dataSync()));

for (const family of ["qwen2", "qwen3", "llama"] as const) {
  const targets = family === "qwen3" ? ["q_proj", "up_proj"] : "all-linear";
  const rslora = family === "qwen3";
  test(`peft and we read each other's adapters of ${family}`, { skip }, async (t) => {
    await ready();
    const root = await mkdtemp(join(tmpdir(), "arpo-peft-"));
    const fresh = Model.init({ ...sizes, family }, 4);
    const random = Random.from(5);
    for (const [name, weight] of fresh.weights) {
      if (!/bias$|norm\.weight$/.test(name)) continue;
      const values = Float32Array.from({ length: weight.size }, () => 0.5 + random.uniform());
      tf.tidy(() => weight.assign(tf.tensor(values, weight.shape)));
    }
    await saveModel(fresh, join(root, "base"));
    fresh.dispose();
    const model = await loadModel(join(root, "base"));
    const lora = addLora(model, { rank: 3, alpha: 6, targetModules: targets, rslora });
    for (const [name, weight] of lora.weights) {
      if (!name.endsWith("lora_B.weight")) continue;
      const values = Float32Array.from({ length: weight.size }, () => 0.2 * random.normal());
      tf.tidy(() => weight.assign(tf.tensor(values, weight.shape)));
    }
    await saveAdapter(model, join(root, "ours"), { base: join(root, "base") });
    const ours = logits(model);
    const stored = [{ name: "logits", shape: [ours.length], values: () => ours }];
    await writeSafetensors(join(root, "case.safetensors"), stored);
    await writeFile(join(root, "case.json"), JSON.stringify({ ids, targets, rslora }));
    const run = spawnSync(python, ["tests/python/check_adapter.py", root], {
      encoding: "utf8",
      env: { ...process.env, HF_HUB_OFFLINE: "1" },
    });
    for (const line of run.stdout.trim().split("\n")) t.diagnostic(line);
    assert.equal(run.status, 0, run.stdout + run.stderr);

    const other = await loadModel(join(root, "base"));
    const loaded = await loadAdapter(other, join(root, "theirs"));
    assert.equal(loaded.scale, lora.scale);
    const file = await SafetensorsFile.open(join(root, "theirs.safetensors"));
    const expected = await file.read("logits");
    await file.close();
    const far = Math.max(...logits(other).map((x, i) => Math.abs(x - expected[i]!)));
    t.diagnostic(`theirs: ${far.toExponential(1)} from theirs`);
    assert.ok(far < 1e-4);

    const converted = join(root, "converted");
    await convertCheckpoint(join(root, "base"), converted, { lora: join(root, "theirs") });
    const { match, rows } = await compareCheckpoints(converted, join(root, "merged"), {
      tolerance: 1e-6,
    });
    t.diagnostic(`merged: ${rows.filter(({ differing }) => differing > 0).length} of ${rows.length} matrices not bit for bit`); // prettier-ignore
    assert.ok(match, JSON.stringify(rows.filter(({ beyond }) => beyond > 0)));
    model.dispose();
    other.dispose();
    await rm(root, { recursive: true });
  });
}
