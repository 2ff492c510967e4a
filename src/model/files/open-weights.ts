import { access } from "#platform/files";
import { basename, join } from "#platform/path";
import type { ModelConfig } from "../config.js";
import { readJson } from "./read-file.js";
import type { WeightFile } from "./weight-file.js";
import { SafetensorsFile } from "./safetensors-file.js";
import { weightShapes } from "../transformer/weights.js";

/** Whether there is such a file. */
export const exists = (path: string) =>
  access(path).then(
    () => true,
    () => false,
  );

/** Opens every weight file of a folder and says which file holds which tensor. */
export async function openWeights(folder: string, opened: WeightFile[]) {
  const where = new Map<string, SafetensorsFile>();
  const refuse = (rule: string, got: string): never => {
    throw new RangeError(`Cannot load a model: ${rule}, got ${got}`);
  };
  const open = async (name: string) => {
    const path = join(folder, name);
    if (!(await exists(path))) refuse(`${folder} must hold ${name}`, "no such file");
    const file = await SafetensorsFile.open(path);
    opened.push(file);
    return file;
  };
  const index = join(folder, "model.safetensors.index.json");
  if (await exists(join(folder, "model.safetensors"))) {
    const file = await open("model.safetensors");
    for (const name of file.tensors.keys()) where.set(name, file);
  } else if (await exists(index)) {
    const { weight_map: map } = await readJson(index, "load a model");
    if (map === null || typeof map !== "object")
      refuse(`${index} must have a weight_map`, typeof map);
    const files = new Map<string, SafetensorsFile>();
    for (const [tensor, name] of Object.entries(map as Record<string, string>)) {
      if (name !== basename(name)) refuse(`a shard must lie in the model's folder`, name);
      const file = files.get(name) ?? (await open(name));
      files.set(name, file);
      if (!file.tensors.has(tensor))
        refuse(`${name} must hold ${tensor} as the index says`, "none");
      where.set(tensor, file);
    }
  } else {
    refuse(`${folder} must hold model.safetensors or model.safetensors.index.json`, "neither");
  }
  return where;
}

/** What a weight is looked up in: a file, or anything else that knows its shape. */
interface Shapes {
  readonly tensors: ReadonlyMap<string, { readonly shape: readonly number[] }>;
}

/** Checks that the files hold exactly what the config asks for; gives the weights to draw afresh. */
export function checkStored(
  config: ModelConfig,
  where: ReadonlyMap<string, Shapes>,
  stored: ModelConfig["head"],
): Set<string> {
  const shapes = weightShapes(config);
  const fresh = new Set<string>();
  for (const [name, shape] of shapes) {
    const found = where.get(name)?.tensors.get(name)?.shape;
    if (!found && config.head !== stored && name.startsWith("score.")) fresh.add(name);
    else if (`${found}` !== `${shape}`) {
      throw new RangeError(
        `Cannot load a model: ${name} must have shape [${shape}] as the config says, got ${found ? `[${found}]` : "no such tensor"}`,
      );
    }
  }
  for (const name of where.keys()) {
    // The output matrix of a tied model or of what is now a critic, and tables old files carry along.
    if (shapes.has(name) || /^(score|lm_head)\.|\.rotary_emb\.inv_freq$/.test(name)) continue;
    throw new RangeError(
      `Cannot load a model: ${config.family} with this config must have no other weights, got ${name}`,
    );
  }
  return fresh;
}

/** Whether a sum of nothing but zeros is one: what is not finite makes it NaN, in half of the time. */
function allFinite(values: Float32Array): boolean {
  const most = values.length - (values.length % 4);
  let [a, b, c, d] = [0, 0, 0, 0];
  for (let i = 0; i < most; i += 4) {
    a += values[i]! * 0;
    b += values[i + 1]! * 0;
    c += values[i + 2]! * 0;
    d += values[i + 3]! * 0;
  }
  for (let i = most; i < values.length; i++) a += values[i]! * 0;
  return a + b + c + d === 0;
}

/** Refuses weights that are not numbers; 16-bit ones are bfloat16. */
export function checkFinite(name: string, values: Float32Array | Uint16Array): void {
  if (values instanceof Float32Array && allFinite(values)) return;
  const halves = values instanceof Uint16Array;
  for (let i = 0; i < values.length; i++) {
    const value = values[i]!;
    if (halves ? (value & 0x7f80) !== 0x7f80 : Number.isFinite(value)) continue;
    const what = halves ? "NaN or infinity" : value;
    throw new RangeError(
      `Cannot load a model: weights must be finite, got ${what} in ${name} at ${i}`,
    );
  }
}
