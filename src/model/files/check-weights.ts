import { modelConfig, type ModelConfig } from "../config.js";
import { openModel } from "./open-model.js";
import { checkStored } from "./open-weights.js";
import type { WeightFile } from "./weight-file.js";

/** Refuses what a load would, but for the values: the headers of the files say enough. */
export async function checkWeights(path: string, head?: ModelConfig["head"]): Promise<void> {
  const files: WeightFile[] = [];
  try {
    const { config: stored, where } = await openModel(path, files);
    const config = modelConfig({ ...stored, head: head ?? stored.head });
    checkStored(config, where, stored.head);
  } finally {
    for (const file of files) await file.close();
  }
}
