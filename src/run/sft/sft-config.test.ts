import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { temporaryFolder } from "../../../tests/temporary.js";
import { sftTable } from "../../learn/sft/train.js";
import { optionsIn } from "../config/from-table.js";
import { loadSftConfig } from "./sft-config.js";

test("loadSftConfig() reads fineTune's options under LLaMA-Factory's keys, with that program's defaults", async () => {
  const file = join(temporaryFolder("sft-config"), "sft.yaml");
  await writeFile(file, "model_name_or_path: .\ndataset: b\noutput_dir: c\n");
  const read = async (...overrides: string[]) =>
    optionsIn(sftTable, { sft: (await loadSftConfig(file, overrides)).config });
  const usual = {
    ...{ learningRate: 5e-5, batchSize: 8, accumulation: 1, epochs: 3, schedule: "linear" },
    ...{ warmupRatio: 0, weightDecay: 0, maxNorm: 1, seed: 42, evalBatchSize: 8 },
  };
  assert.deepEqual(await read(), usual);
  assert.deepEqual(await read("learning_rate=0.1", "num_train_epochs=0.5"), {
    ...{ ...usual, learningRate: 0.1, epochs: 0.5 },
  });
  for (const wrong of ["learning_rate=0", "gradient_accumulation_steps=0.5", "warmup_ratio=2"]) {
    await assert.rejects(read(wrong), new RegExp(wrong.split("=")[0]!));
  }
});
