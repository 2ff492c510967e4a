import { SafetensorsFile } from "../../model/files/safetensors-file.js";
import { type TensorSource, writeSafetensors } from "../../model/files/write-safetensors.js";
import type { AdamWState } from "../../tensor/adamw.js";

/** Writes an optimiser's moments as safetensors; the step count goes into the metadata. */
export async function saveOptimizer(state: AdamWState, path: string): Promise<void> {
  const tensors = Object.entries(state.moments).flatMap(([name, moments]) =>
    (["m", "v"] as const).map((kind): TensorSource => ({
      name: `${kind}.${name}`,
      shape: [moments[kind].length],
      values: () => moments[kind],
    })),
  );
  await writeSafetensors(path, tensors, { metadata: { step: String(state.step) } });
}

/** Reads what `saveOptimizer` wrote. */
export async function loadOptimizer(path: string): Promise<AdamWState> {
  const file = await SafetensorsFile.open(path);
  try {
    const state: AdamWState = { step: Number(file.metadata["step"]), moments: {} };
    for (const name of file.tensors.keys()) {
      if (!name.startsWith("m.")) continue;
      const weight = name.slice(2);
      state.moments[weight] = { m: await file.read(name), v: await file.read(`v.${weight}`) };
    }
    return state;
  } finally {
    await file.close();
  }
}
