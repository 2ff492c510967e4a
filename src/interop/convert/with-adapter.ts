import { checkArguments } from "../../../common/options/check-arguments.js";
import { join } from "#platform/path";
import { readAdapterConfig } from "../../model/lora/adapter-config.js";
import { SafetensorsFile } from "../../model/files/safetensors-file.js";
import { ready } from "../../tensor/backends.js";
import { tf } from "../../tensor/tf.js";
import type { WeightSource } from "./weight-source.js";

const stored = /^base_model\.model\.(.+)\.lora_([AB])\.weight$/;

/** Which weights the file has adapters for, after checking that they fit. */
function adaptedNames(file: SafetensorsFile, rank: number, source: WeightSource): Set<string> {
  const refuse = (rule: string, got: string): never => {
    throw new RangeError(`Cannot add an adapter: ${rule}, got ${got}`);
  };
  const names = new Set<string>();
  for (const name of file.tensors.keys()) {
    const [, stem] = stored.exec(name) ?? [];
    if (stem === undefined) {
      return refuse(`${file.path} must hold lora_A and lora_B of weights alone`, name);
    }
    const shape = source.tensors.get(`${stem}.weight`)?.shape;
    if (shape?.length !== 2) {
      return refuse(`${source.folder} must have the matrix that ${name} adds to`, "no such matrix");
    }
    for (const [letter, wanted] of [
      ["A", [rank, shape[1]]],
      ["B", [shape[0], rank]],
    ] as const) {
      const there = `base_model.model.${stem}.lora_${letter}.weight`;
      const found = file.tensors.get(there)?.shape;
      if (`${found}` !== `${wanted}`) {
        refuse(`${there} must have shape [${wanted}]`, found ? `[${found}]` : "no such tensor");
      }
    }
    names.add(`${stem}.weight`);
  }
  if (names.size === 0) refuse(`${file.path} must hold an adapter`, "none");
  return names;
}

/**
 * A checkpoint's weights with those of a PEFT adapter added: W + scale * B A, one tensor at a time.
 * Closing it closes both.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { mkdtemp } from "node:fs/promises";
 * import { tmpdir } from "node:os";
 * import { join } from "node:path";
 * import { openFolder, withAdapter } from "arpo-lab/experimental/convert";
 * import { addLora, Model, saveAdapter, saveModel } from "arpo-lab/model";
 *
 * const [base, adapter] = [await mkdtemp(join(tmpdir(), "arpo-")), await mkdtemp(join(tmpdir(), "arpo-"))];
 * const model = Model.init({ vocabSize: 50, hiddenSize: 16, intermediateSize: 32, layers: 1, heads: 2 }, 1);
 * await saveModel(model, base);
 * addLora(model, { rank: 2, alpha: 4 });
 * await saveAdapter(model, adapter);
 * const source = await withAdapter(await openFolder(base), adapter);
 * assert.equal((await source.read("model.layers.0.mlp.up_proj.weight")).length, 512);
 * await source.close();
 * ```
 */
export async function withAdapter(source: WeightSource, folder: string): Promise<WeightSource> {
  checkArguments("add an adapter", { source, folder }, { source: "object", folder: "path" });
  await ready();
  const { rank, alpha, rslora } = await readAdapterConfig(folder);
  if (!(Number.isInteger(rank) && rank > 0 && Number.isFinite(alpha))) {
    throw new RangeError(
      `Cannot add an adapter: r must be a whole number from 1 up and lora_alpha finite, got ${rank} and ${alpha}`,
    );
  }
  const scale = alpha / (rslora ? Math.sqrt(rank) : rank);
  const file = await SafetensorsFile.open(join(folder, "adapter_model.safetensors"));
  try {
    const names = adaptedNames(file, rank, source);
    return {
      ...source,
      async read(name) {
        const values = await source.read(name);
        if (!names.has(name)) return values;
        const [rows, columns] = source.tensors.get(name)!.shape as [number, number];
        const stem = `base_model.model.${name.replace(/\.weight$/, "")}`;
        const a = await file.read(`${stem}.lora_A.weight`);
        const b = await file.read(`${stem}.lora_B.weight`);
        const sum = tf.tidy(() => {
          const change = tf.matMul(tf.tensor2d(b, [rows, rank]), tf.tensor2d(a, [rank, columns]));
          return tf.tensor2d(values, [rows, columns]).add(change.mul(scale));
        });
        const added = Float32Array.from(await sum.data());
        sum.dispose();
        return added;
      },
      async close() {
        await file.close();
        await source.close();
      },
    };
  } catch (error) {
    await file.close();
    throw error;
  }
}
