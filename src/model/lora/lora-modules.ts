import type { ModelConfig } from "../config.js";
import { weightShapes } from "../transformer/weights.js";

/** The projections that can have adapters: every matrix of a layer. */
export const loraModules = [
  "q_proj",
  "k_proj",
  "v_proj",
  "o_proj",
  "gate_proj",
  "up_proj",
  "down_proj",
  "in_proj_qkv",
  "in_proj_z",
  "in_proj_b",
  "in_proj_a",
  "out_proj",
] as const;

/** Those that a model has. */
const modulesOf = (config: ModelConfig): string[] => {
  const names = [...weightShapes(config).keys()];
  return loraModules.filter((module) => names.some((name) => name.endsWith(`.${module}.weight`)));
};

/** Reads `all-linear`, one name, names with commas between, or a list of names. */
export function chosenModules(given: string | readonly string[], config: ModelConfig): string[] {
  const there = modulesOf(config);
  const names = (typeof given === "string" ? given.split(",") : given).map((name) => name.trim());
  if (names.length === 1 && (names[0] === "all-linear" || names[0] === "all")) {
    return there;
  }
  const unknown = names.find((name) => !there.includes(name));
  if (names.length === 0 || unknown !== undefined) {
    throw new RangeError(
      `Cannot use LoRA: target modules must be all-linear or among ${there.join(", ")}, got ${unknown ?? "none"}`,
    );
  }
  return there.filter((name) => names.includes(name));
}

/** Names and shapes of the adapters of a model, A before B. */
export function adapterShapes(
  config: ModelConfig,
  rank: number,
  modules: readonly string[],
): Map<string, [number, number]> {
  const shapes = new Map<string, [number, number]>();
  for (const [name, [out, input]] of weightShapes(config)) {
    const [, stem, module] = /^(model\.layers\..*\.(\w+))\.weight$/.exec(name) ?? [];
    if (module === undefined || !modules.includes(module)) continue;
    shapes.set(`${stem}.lora_A.weight`, [rank, input!]);
    shapes.set(`${stem}.lora_B.weight`, [out!, rank]);
  }
  return shapes;
}

/** Refuses ranks and scales that mean nothing, and models that end in something new to be learned. */
export function checkLora(config: ModelConfig, rank: number, alpha: number): void {
  if (!Number.isSafeInteger(rank) || rank < 1) {
    throw new RangeError(`Cannot use LoRA: the rank must be a positive integer, got ${rank}`);
  }
  if (!(alpha > 0 && alpha < Infinity)) {
    throw new RangeError(`Cannot use LoRA: alpha must be a positive number, got ${alpha}`);
  }
  if (config.head !== "logits") {
    throw new TypeError('Cannot use LoRA: the model must have head "logits", got "value"');
  }
}
