import { z } from "#zod";
import {
  aggregationTable,
  arithmeticTable,
  balanceTable,
  clipTable,
  termTable,
} from "../../learn/losses/base/options.js";
import { criticTable } from "../../learn/update/critic-settings.js";
import { updateTable } from "../../learn/update/update-settings.js";
import { keysFrom } from "./from-table.js";
import { runTable } from "./run-table.js";
import { lossKeys } from "./choice-keys.js";
import { kept } from "./kept-keys.js";
import {
  atLeast,
  flag,
  oneOf,
  optionalCount,
  path,
  positive,
  section,
  share,
  whole,
} from "./kinds.js";

/** Keys that actor and critic optimisers share. */
const optimizer = <L extends z.ZodType, W extends z.ZodType>(keys: { lr: L; weight_decay: W }) => ({
  lr: keys.lr,
  lr_warmup_steps: whole(-1).describe("Steps of linear warm-up; negative: use the ratio"),
  lr_warmup_steps_ratio: share(0).describe("Share of all steps that warms up"),
  min_lr_ratio: z
    .number()
    .min(0)
    .max(1)
    .nullable()
    .default(0)
    .describe("Where a cosine schedule ends, as a share of lr"),
  num_cycles: positive(0.5).describe("Cosine half-waves"),
  warmup_style: oneOf(["constant", "cosine"], "constant").describe("The schedule after warm-up"),
  weight_decay: keys.weight_decay,
});

/** The model and how it fits in memory. */
export const model = section({
  path: path("data/models/tiny").describe("A Hugging Face folder or a .gguf file"),
  ...keysFrom(updateTable, "actor_rollout_ref.model"),
  lora_rank: atLeast(0, 0, 8192).describe(
    "Train low-rank adapters alone, of this rank; 0: every weight",
  ),
  lora_alpha: positive(16).describe("What adapters add is multiplied by lora_alpha / lora_rank"),
  target_modules: z
    .union([z.string(), z.array(z.string())])
    .default("all-linear")
    .describe("Projections that get adapters: all-linear, or names such as q_proj"),
  ...kept["actor_rollout_ref.model"],
});

const at = "actor_rollout_ref.actor";
const { entropy_coeff, ...klLoss } = keysFrom(termTable, at);
const update = keysFrom(updateTable, at);

/** The policy's update. */
export const actor = () => {
  const own = lossKeys();
  return section({
    ...keysFrom(runTable, at),
    ppo_micro_batch_size: optionalCount.describe("Older name of the next key"),
    ppo_micro_batch_size_per_gpu: optionalCount.describe(
      "Sequences per forward pass, where it is not dynamic",
    ),
    use_dynamic_bsz: flag(false).describe("Limit forward passes by tokens rather than sequences"),
    ppo_max_token_len_per_gpu: atLeast(1, 16384, 1e9).describe(
      "Tokens per forward pass, where it is dynamic or no sequences are given",
    ),
    grad_clip: update.grad_clip,
    ...keysFrom(clipTable, at),
    ...keysFrom(aggregationTable, at),
    ...keysFrom(arithmeticTable, at),
    policy_loss: section(own.policyLoss),
    ...own.actor,
    ...keysFrom(balanceTable, at),
    entropy_coeff,
    use_kl_loss: flag(false).describe("Add a KL loss against the reference policy"),
    ...klLoss,
    ppo_epochs: update.ppo_epochs,
    shuffle: flag(false).describe("Shuffle a batch before each pass"),
    optim: section({
      ...optimizer(keysFrom(updateTable, `${at}.optim`)),
      ...kept["actor_rollout_ref.actor.optim"],
    }),
    ...kept["actor_rollout_ref.actor"],
  });
};

/** The frozen policy that KL is measured against. */
export const reference = section(kept["actor_rollout_ref.ref"]);

const values = keysFrom(criticTable, "critic");

/** The value model, used by `adv_estimator: gae` alone. */
export const critic = section({
  ppo_mini_batch_size: atLeast(1, 256).describe("Prompts per optimiser step"),
  ppo_micro_batch_size: optionalCount.describe("Older name of the next key"),
  ppo_micro_batch_size_per_gpu: optionalCount.describe(
    "Sequences per forward pass, where it is not dynamic",
  ),
  use_dynamic_bsz: flag(false).describe("Limit forward passes by tokens rather than sequences"),
  ppo_max_token_len_per_gpu: atLeast(1, 32768, 1e9).describe(
    "Tokens per forward pass, where it is dynamic or no sequences are given",
  ),
  ppo_epochs: values.ppo_epochs,
  shuffle: flag(false).describe("Shuffle a batch before each pass"),
  grad_clip: values.grad_clip,
  cliprange_value: values.cliprange_value,
  loss_agg_mode: values.loss_agg_mode,
  optim: section({ ...optimizer(keysFrom(criticTable, "critic.optim")), ...kept["critic.optim"] }),
  model: section({
    path: path("data/models/tiny").describe(
      "A Hugging Face folder or a .gguf file to start the critic from",
    ),
    ...keysFrom(criticTable, "critic.model"),
    ...kept["critic.model"],
  }),
  ...kept.critic,
});
