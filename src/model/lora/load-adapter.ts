import { checkArguments } from "../../../common/options/check-arguments.js";
import { access } from "#platform/files";
import { join } from "#platform/path";
import { tf } from "../../tensor/tf.js";
import { readAdapterConfig, type AdapterConfig } from "./adapter-config.js";
import { adapterShapes, checkLora, loraModules } from "./lora-modules.js";
import { Lora } from "../transformer/lora.js";
import { checkSealed } from "../files/sealed.js";
import { SafetensorsFile } from "../files/safetensors-file.js";
import type { Model } from "../transformer/transformer.js";

const prefix = "base_model.model.";

const stemOf = (name: string) => name.replace(/\.lora_[AB]\.weight$/, "");

/** Which projections a file holds adapters of, after checking that they are what the config says. */
function modulesIn(file: SafetensorsFile, config: AdapterConfig, model: Model): string[] {
  const refuse = (rule: string, got: string): never => {
    throw new RangeError(`Cannot load an adapter: ${rule}, got ${got}`);
  };
  const every = adapterShapes(model.config, config.rank, loraModules);
  const { targets } = config;
  const aimed = (name: string) =>
    !targets || targets.some((target) => `.${stemOf(name)}`.endsWith(`.${target}`));
  const modules = new Set<string>();
  for (const [stored, { shape }] of file.tensors) {
    const name = stored.startsWith(prefix) ? stored.slice(prefix.length) : "";
    const expected = every.get(name);
    if (!expected || !aimed(name)) {
      return refuse(`${file.path} must hold adapters of the model's target_modules alone`, stored);
    }
    if (`${shape}` !== `${expected}`) {
      refuse(`${stored} must have shape [${expected}] for this model and rank`, `[${shape}]`);
    }
    modules.add(/(?<!\w)(\w+)$/.exec(stemOf(name))![1]!);
  }
  if (modules.size === 0) refuse(`${file.path} must hold an adapter`, "none");
  const chosen = loraModules.filter((module) => modules.has(module));
  for (const name of adapterShapes(
    model.config,
    config.rank,
    targets ? loraModules : chosen,
  ).keys()) {
    const wanted = targets ? aimed(name) || modules.has(/(\w+)$/.exec(stemOf(name))![1]!) : true;
    if (wanted && !file.tensors.has(prefix + name)) {
      refuse(`${file.path} must hold ${prefix}${name}`, "no such tensor");
    }
  }
  return chosen;
}

/**
 * Loads adapters in PEFT's files into a model. One that has adapters of the same kind takes over their
 * values, so that an optimiser goes on with them.
 *
 * @param model the model that gets the adapters
 * @param folder a folder with `adapter_config.json`
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { mkdtemp } from "node:fs/promises";
 * import { tmpdir } from "node:os";
 * import { join } from "node:path";
 * import { addLora, loadAdapter, Model, saveAdapter } from "arpo-lab/model";
 *
 * const folder = await mkdtemp(join(tmpdir(), "arpo-"));
 * const sizes = { vocabSize: 9, hiddenSize: 8, intermediateSize: 16, layers: 1, heads: 2 };
 * const model = Model.init(sizes, 1);
 * addLora(model, { rank: 2, alpha: 4 });
 * await saveAdapter(model, folder);
 * const lora = await loadAdapter(Model.init(sizes, 1), folder);
 * assert.equal(lora.rank, 2);
 * ```
 */
export async function loadAdapter(model: Model, folder: string): Promise<Lora> {
  checkArguments("load an adapter", { model, folder }, { model: "model", folder: "path" });
  const config = await readAdapterConfig(folder);
  checkLora(model.config, config.rank, config.alpha);
  const path = join(folder, "adapter_model.safetensors");
  await access(path).catch(() => {
    throw new RangeError(`Cannot load an adapter: ${path} must exist, got no such file`);
  });
  await checkSealed(folder, "load an adapter");
  const file = await SafetensorsFile.open(path);
  const read = new Map<string, tf.Variable>();
  const { rank, alpha, rslora } = config;
  try {
    const modules = modulesIn(file, config, model);
    for (const [name, shape] of adapterShapes(model.config, rank, modules)) {
      const values = await file.read(prefix + name);
      const bad = values.find((value) => !Number.isFinite(value));
      if (bad !== undefined) {
        throw new RangeError(`Cannot load an adapter: ${name} must be finite, got ${bad}`);
      }
      read.set(
        name,
        tf.tidy(() => tf.variable(tf.tensor(values, shape, "float32"))),
      );
    }
    const lora = new Lora(rank, alpha, rslora, modules, read);
    if (!model.lora) {
      model.adopt(lora);
      return lora;
    }
    replace(model.lora, lora);
    lora.dispose();
    model.changed();
    return model.lora;
  } catch (error) {
    for (const weight of read.values()) weight.dispose();
    throw error;
  } finally {
    await file.close();
  }
}

/** Puts values into the adapters a model has. */
function replace(old: Lora, fresh: Lora): void {
  const kind = ({ rank, scale, targetModules }: Lora) =>
    `rank ${rank}, scale ${scale}, ${targetModules.join(" ")}`;
  if (kind(old) !== kind(fresh) || old.merged) {
    const rule = old.merged ? "unmerged ones" : `ones of ${kind(fresh)}`;
    throw new RangeError(
      `Cannot load an adapter: the model must have no adapters or ${rule}, got ${kind(old)}`,
    );
  }
  for (const [name, weight] of old.weights) {
    tf.tidy(() => weight.assign(fresh.weights.get(name)!.mul(1)));
  }
}
