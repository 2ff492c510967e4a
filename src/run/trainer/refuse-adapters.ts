import type { ModelConfig } from "../../model/config.js";
import { chosenModules } from "../../model/lora/lora-modules.js";
import type { Config } from "../config/schema.js";

/** Throws unless a model of this shape can have the adapters that a configuration asks for. */
export function refuseAdapters(
  { actor_rollout_ref: { model: how } }: Pick<Config, "actor_rollout_ref">,
  model: ModelConfig,
): void {
  if (how.lora_rank === 0) return;
  chosenModules(how.target_modules, model);
  if (how.lora_rank <= model.hiddenSize) return;
  throw new RangeError(
    `Cannot use LoRA: actor_rollout_ref.model.lora_rank must be at most the model's width, ${model.hiddenSize}, got ${how.lora_rank}`,
  );
}
