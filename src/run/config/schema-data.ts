import { z } from "#zod";
import {
  atLeast,
  files,
  flag,
  kept,
  oneOf,
  optionalCount,
  optionalText,
  section,
  text,
} from "./kinds.js";

/** Where prompts come from and how they are cut. */
export const data = section({
  train_files: files
    .default("tasks:calc")
    .describe("Parquet, JSONL or CSV files, or `tasks:NAME` for a generator (docs/tasks.md)"),
  val_files: files.default("tasks:calc").describe("The same for validation"),
  environment: optionalText.describe(
    "World that rows act in: `maze`, `shop`, or a module as `./world.ts#World`; unset is that of the generator",
  ),
  prompt_key: text("prompt").describe("Column of the prompt"),
  reward_fn_key: text("data_source").describe("Column that chooses the reward"),
  max_prompt_length: atLeast(1, 512).describe("Longest prompt in tokens"),
  max_response_length: atLeast(1, 512).describe("Longest response in tokens, results included"),
  train_batch_size: atLeast(1, 1024).describe("Prompts per step"),
  val_batch_size: optionalCount.describe(
    "Validation prompts at the same time; changes memory, no answer",
  ),
  shuffle: flag(true).describe("Visit the prompts in a seeded random order"),
  filter_overlong_prompts: flag(false).describe(
    "Leave out tasks with prompts over max_prompt_length",
  ),
  truncation: oneOf(["error", "left", "right", "middle"], "error").describe(
    "What to do with a prompt over max_prompt_length",
  ),
  tokenizer: optionalText.describe("Tokenizer folder; unset is the model's own"),
  use_shm: kept(flag(false)),
  return_raw_input_ids: kept(flag(false)),
  return_raw_chat: kept(flag(false)),
  return_full_prompt: kept(flag(false)),
  filter_overlong_prompts_workers: kept(atLeast(1, 1)),
  image_key: kept(text("images")),
  video_key: kept(text("videos")),
  trust_remote_code: kept(flag(false)),
  custom_cls: section({ path: kept(optionalText), name: kept(optionalText) }),
});

export const customRewardFunction = section({
  path: optionalText.describe(
    "A module that exports the reward; unset is the built-in one for the data source",
  ),
  name: text("compute_score").describe("The exported function's name"),
});

export const rewardModel = section({
  // Rewards are computed one sample at a time, as `naive` does.
  reward_manager: kept(text("naive")),
  enable: kept(flag(false)),
  strategy: kept(text("fsdp")),
  model: kept(z.record(z.string(), z.unknown()).default({})),
  micro_batch_size: kept(optionalCount),
  micro_batch_size_per_gpu: kept(optionalCount),
  max_length: kept(optionalCount),
  ulysses_sequence_parallel_size: kept(atLeast(1, 1)),
  use_dynamic_bsz: kept(flag(false)),
  forward_max_token_len_per_gpu: kept(optionalCount),
  launch_reward_fn_async: kept(flag(false)),
  sandbox_fusion: section({ url: kept(optionalText), max_concurrent: kept(atLeast(1, 64)) }),
});
