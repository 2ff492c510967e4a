import { z } from "#zod";
import { klKinds } from "../../learn/losses/base/kl.js";
import { lossAggregations, lossDefaults } from "../../learn/losses/base/options.js";
import { lossNames } from "../../learn/losses/registry.js";
import { kept } from "./kept-keys.js";
import {
  atLeast,
  flag,
  number,
  oneOf,
  optionalCount,
  path,
  positive,
  section,
  share,
  weight,
  whole,
} from "./kinds.js";

/** Keys that actor and critic optimisers share. */
const optimizer = (learningRate: number) => ({
  lr: positive(learningRate).describe("Learning rate"),
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
  weight_decay: weight(0.01).describe("AdamW's decoupled weight decay"),
});

/** The model and how it fits in memory. */
export const model = section({
  path: path("data/models/tiny").describe("A Hugging Face folder or a .gguf file"),
  enable_gradient_checkpointing: flag(true).describe("Recompute activations: slower, less memory"),
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

const positiveOrNone = z.number().positive().nullable().default(null);

/** Which policy loss, and what single ones can be told. */
const policyLoss = () =>
  section({
    loss_mode: oneOf(lossNames, "vanilla").describe("The policy loss by name"),
    clip_cov_ratio: share(lossDefaults.clipCovRatio).describe("clip_cov: share of tokens dropped"),
    clip_cov_lb: number(lossDefaults.clipCovLow).describe("clip_cov: covariances above this"),
    clip_cov_ub: number(lossDefaults.clipCovHigh).describe("clip_cov: and below this"),
    kl_cov_ratio: share(lossDefaults.klCovRatio).describe("kl_cov: share of tokens held back"),
    ppo_kl_coef: weight(lossDefaults.klCovCoefficient).describe("kl_cov: what holds them"),
    dro_beta: positiveOrNone.describe("dro: weight of the squared log ratio; it needs one"),
    beta1: weight(lossDefaults.gppoLow).describe("ce_gppo: gradient kept below the lower bound"),
    beta2: weight(lossDefaults.gppoHigh).describe("ce_gppo: gradient kept above the upper bound"),
    decay_rate: positive(lossDefaults.futureDecay).describe(
      "future_kl: tokens until a later log ratio counts half",
    ),
    future_kl_clip_ratio: weight(lossDefaults.futureClip).describe(
      "future_kl: how far a factor may be from 1; 0: bounded by 10 alone",
    ),
    future_kl_clip_high_only: flag(lossDefaults.futureHighOnly).describe(
      "future_kl: no factor below 1",
    ),
    future_kl_weight: number(lossDefaults.futureWeight).describe("future_kl: weight of the factor"),
    safety_thresh: positive(lossDefaults.futureSafety).describe(
      "future_kl: beyond this ratio a negative advantage gets at most 1",
    ),
  });

/** The policy's update. */
export const actor = () =>
  section({
    ppo_mini_batch_size: atLeast(1, 256).describe("Prompts per optimiser step"),
    ppo_micro_batch_size: optionalCount.describe("Older name of the next key"),
    ppo_micro_batch_size_per_gpu: optionalCount.describe(
      "Sequences per forward pass, where it is not dynamic",
    ),
    use_dynamic_bsz: flag(false).describe("Limit forward passes by tokens rather than sequences"),
    ppo_max_token_len_per_gpu: atLeast(1, 16384, 1e9).describe(
      "Tokens per forward pass, where it is dynamic or no sequences are given",
    ),
    grad_clip: positive(1).describe("Largest global gradient norm"),
    clip_ratio: share(0.2).describe(
      "PPO's clip range, on both sides where the next two do not say",
    ),
    clip_ratio_low: z
      .number()
      .min(0)
      .max(1)
      .nullable()
      .default(0.2)
      .describe("Below 1; follows clip_ratio"),
    clip_ratio_high: z
      .number()
      .min(0)
      .nullable()
      .default(0.2)
      .describe("Above 1; follows clip_ratio"),
    clip_ratio_c: z.number().gt(1).default(3).describe("Dual clip's bound"),
    loss_agg_mode: oneOf(lossAggregations, "token-mean").describe(
      "How token losses become one number",
    ),
    loss_scale_factor: positiveOrNone.describe(
      "Length that seq-mean-token-sum-norm divides by; none: the longest sequence's",
    ),
    policy_loss: policyLoss(),
    tau_pos: positive(lossDefaults.tauPositive).describe(
      "sapo: steepness where the advantage is positive",
    ),
    tau_neg: positive(lossDefaults.tauNegative).describe("sapo: steepness elsewhere"),
    enable_entropy_balanced_clipping: flag(false).describe("AEPO: clipped tokens keep a gradient"),
    enable_entropy_balanced_advantage: flag(false).describe("AEPO: weigh advantages by entropy"),
    entropy_coeff: number(0).describe("Weight of the entropy bonus"),
    use_kl_loss: flag(false).describe("Add a KL loss against the reference policy"),
    kl_loss_coef: weight(0.001).describe("Its weight"),
    kl_loss_type: oneOf(klKinds, "low_var_kl").describe("Its estimate"),
    ppo_epochs: atLeast(1, 1).describe("Passes over a batch"),
    shuffle: flag(false).describe("Shuffle a batch before each pass"),
    optim: section({ ...optimizer(1e-6), ...kept["actor_rollout_ref.actor.optim"] }),
    ...kept["actor_rollout_ref.actor"],
  });

/** The frozen policy that KL is measured against. */
export const reference = section(kept["actor_rollout_ref.ref"]);

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
  ppo_epochs: atLeast(1, 1).describe("Passes over a batch"),
  shuffle: flag(false).describe("Shuffle a batch before each pass"),
  grad_clip: positive(1).describe("Largest global gradient norm"),
  cliprange_value: positive(0.5).describe("How far a value may move from the old one"),
  loss_agg_mode: oneOf(lossAggregations, "token-mean").describe(
    "How token losses become one number",
  ),
  optim: section({ ...optimizer(1e-5), ...kept["critic.optim"] }),
  model: section({
    path: path("data/models/tiny").describe(
      "A Hugging Face folder or a .gguf file to start the critic from",
    ),
    enable_gradient_checkpointing: flag(true).describe("Recompute activations"),
    ...kept["critic.model"],
  }),
  ...kept.critic,
});
