import { join } from "#platform/path";
import { readJson } from "../files/read-file.js";

/** What of PEFT's `adapter_config.json` is used here. */
export interface AdapterConfig {
  rank: number;
  alpha: number;
  rslora: boolean;
  /** Names as PEFT matches them (by the end of a module's path), or undefined: whatever the file holds. */
  targets?: string[];
}

/** Settings that would change what adapters compute, and the value that changes nothing. */
const plain: Record<string, (value: unknown) => boolean> = {
  use_dora: (value) => value === false,
  use_qalora: (value) => value === false,
  fan_in_fan_out: (value) => value === false,
  lora_bias: (value) => value === false,
  bias: (value) => value === "none",
  rank_pattern: isEmpty,
  alpha_pattern: isEmpty,
  modules_to_save: isEmpty,
  target_parameters: isEmpty,
  trainable_token_indices: isEmpty,
  layers_to_transform: isEmpty,
  layer_replication: isEmpty,
};

function isEmpty(value: unknown): boolean {
  return typeof value === "object" && value !== null && Object.keys(value).length === 0;
}

/** Reads `adapter_config.json` and refuses what is not built here. */
export async function readAdapterConfig(folder: string): Promise<AdapterConfig> {
  const path = join(folder, "adapter_config.json");
  const json = await readJson(path, "load an adapter");
  const refuse = (rule: string, got: unknown): never => {
    throw new RangeError(`Cannot load an adapter: ${rule} in ${path}, got ${JSON.stringify(got)}`);
  };
  if (json["peft_type"] !== "LORA") refuse("peft_type must be LORA", json["peft_type"]);
  for (const [key, holds] of Object.entries(plain)) {
    const value = json[key];
    if (value !== undefined && value !== null && !holds(value)) {
      refuse(`${key} must be unset, which is all that is built,`, value);
    }
  }
  const { r: rank, lora_alpha: alpha, use_rslora: rslora = false, target_modules: targets } = json;
  if (typeof rank !== "number") return refuse("r must be a number", rank);
  if (typeof alpha !== "number") return refuse("lora_alpha must be a number", alpha);
  if (typeof rslora !== "boolean") return refuse("use_rslora must be true or false", rslora);
  const list = Array.isArray(targets) && targets.every((name) => typeof name === "string");
  if (!list && typeof targets !== "string") {
    return refuse("target_modules must be a text or a list of names", targets);
  }
  return { rank, alpha, rslora, ...(list ? { targets } : {}) };
}
