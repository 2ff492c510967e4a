import { z } from "#zod";
import { advantageTable } from "../../learn/advantage-settings.js";
import { estimatorNames } from "../../learn/advantages.js";
import { estimatorsByName } from "../../learn/estimators/registry.js";
import { aggregationTable, klKinds } from "../../learn/losses/base/options.js";
import { cacheTypes, decoderTypes } from "../../model/decoder/weights.js";
import { weightPrecisions } from "../../model/transformer/weights.js";
import { branchRules, expansionRules, rules } from "../../rollout/rules/registry.js";
import { loggers, loggerWords } from "../loggers/registry.js";
import { added } from "./choices.js";
import { creditKeys, expandKeys } from "./choice-keys.js";
import { distillationTable } from "../../learn/distillation/options.js";
import { updateTable } from "../../learn/update/update-settings.js";
import { keysFrom } from "./from-table.js";
import { stalenessTable } from "../staleness/options.js";
import { budgetTable, runTable, warmupTable } from "./run-table.js";
import { kept } from "./kept-keys.js";
import {
  atLeast,
  flag,
  oneOf,
  optionalCount,
  optionalText,
  path,
  positive,
  section,
  text,
  weight,
  whole,
} from "./kinds.js";

const bounds = z.union([z.number().positive(), z.string().min(1)]);

/** DAPO's group filter. */
const filterGroups = section({
  enable: flag(false).describe(
    "Drop prompts whose trajectories are all the same, and roll out more",
  ),
  metric: z
    .string()
    .min(1)
    .nullable()
    .default(null)
    .describe(
      "What trajectories must differ in: acc (the default), seq_reward, seq_final_reward (after KL), or a part of the reward",
    ),
  max_num_gen_batches: whole(0).describe(
    "Batches a step may roll out before the run stops with an error; 0 or less: any number",
  ),
  ...kept["algorithm.filter_groups"],
});

/** The correction for a sampler that is not the policy that trains. */
const rolloutCorrection = section({
  rollout_is: z
    .enum(["token", "sequence"])
    .nullable()
    .default(null)
    .describe("Importance weights by token or by sequence; null: as lab.correct_sampler says"),
  rollout_is_threshold: bounds
    .default(2)
    .describe("A number truncates weights (TIS); lower_upper drops those outside (IcePop)"),
  rollout_is_batch_normalize: flag(false).describe("Divide weights by their mean"),
  rollout_rs: z
    .string()
    .min(1)
    .nullable()
    .default(null)
    .describe(
      "Tests that tokens or sequences must pass, such as token_k1 or seq_mean_k3, with commas",
    ),
  rollout_rs_threshold: bounds
    .nullable()
    .default(null)
    .describe("What they are held to: one bound, or one each; lower_upper for k1"),
  bypass_mode: flag(false).describe("Take ratios against the sampler itself and measure nothing"),
  loss_type: oneOf(["ppo_clip", "reinforce"], "ppo_clip").describe("What bypass minimises"),
});

/** From rewards to advantages. */
export const algorithm = () =>
  section({
    adv_estimator: oneOf([...estimatorNames, ...added(estimatorsByName)], "gae").describe(
      "How rewards become advantages",
    ),
    ...keysFrom(advantageTable, "algorithm"),
    use_kl_in_reward: flag(false).describe("Take a KL penalty off the rewards"),
    kl_penalty: oneOf(klKinds, "kl").describe("Its estimate"),
    kl_ctrl: section({
      type: oneOf(["fixed", "adaptive"], "fixed").describe("Whether its weight moves"),
      kl_coef: weight(0.001).describe("Its weight"),
      horizon: positive(10000).describe("Adaptive: samples over which the weight may move by 20%"),
      target_kl: positive(0.1).describe("Adaptive: the KL to hold"),
    }),
    filter_groups: filterGroups,
    rollout_correction: rolloutCorrection,
    ...kept.algorithm,
  });

/** How long, how often, and where to. */
export const trainer = () =>
  section({
    total_epochs: atLeast(1, 30).describe("Passes over the training prompts"),
    ...keysFrom(runTable, "trainer"),
    project_name: text("verl_examples").describe("The project, in folders and loggers"),
    experiment_name: text("gsm8k").describe("The run's name, in folders and loggers"),
    logger: z.array(z.enum(loggers.names)).default(["console", "wandb"]).describe(loggerWords()),
    log_val_generations: atLeast(0, 0).describe("Validation answers to show each time"),
    rollout_data_dir: optionalText.describe(
      "Where to write each step's answers in the reference's form, besides the trees in the run folder",
    ),
    validation_data_dir: optionalText.describe("The same for validation"),
    save_freq: whole(-1).describe("Steps between checkpoints; negative: only the last"),
    resume_mode: oneOf(["auto", "disable", "resume_path"], "auto").describe("Whether to continue"),
    resume_from_path: optionalText.describe("The checkpoint to continue from"),
    val_before_train: flag(true).describe("Validate before the first step"),
    test_freq: whole(-1).describe("Steps between validations; negative: only the last"),
    critic_warmup: atLeast(0, 0).describe("Steps in which only the critic learns"),
    default_local_dir: path(
      "checkpoints/${trainer.project_name}/${trainer.experiment_name}",
    ).describe("The run folder"),
    max_actor_ckpt_to_keep: optionalCount.describe("Keep the last N checkpoints"),
    ...kept.trainer,
  });

const mark = z.array(z.number().int().positive()).default([]);

/** How much a run may spend, and what is measured in it. */
const budget = section({
  ...keysFrom(budgetTable, "lab.budget"),
  ...keysFrom(warmupTable, "lab.budget"),
  ...keysFrom(runTable, "lab.budget"),
  test_at_tokens: mark.describe("Also validate behind the steps that reach these"),
  test_at_calls: mark.describe("The same in tool calls"),
});

/** What the reference has no key for. Left out when a config is exported for verl. */
export const lab = () =>
  section({
    ...keysFrom(runTable, "lab"),
    ...keysFrom(stalenessTable, "lab"),
    budget,
    group: optionalText.describe(
      "The group that wandb puts the run into, such as the seeds of one setting",
    ),
    branch_rule: oneOf(
      [...branchRules, ...expansionRules, ...added(rules), "never"],
      "arpo-code",
    ).describe("The branching rule"),
    /** Settings of the rules that look at what was written; null is the published value. */
    expand: section(expandKeys()),
    ...keysFrom(updateTable, "lab"),
    ...keysFrom(distillationTable, "lab"),
    ...keysFrom(aggregationTable, "lab"),
    repair_boxed: flag(true).describe("Fix the broken \\boxed of the published RL files"),
    reward_concurrency: atLeast(1, 32).describe("Rewards that may be under way at the same time"),
    reward_timeout: positive(600).describe("Seconds one call of the reward may take"),
    stuck_after: positive(300).describe(
      "Seconds for which a reward or a tool may keep the process from all else before it is ended",
    ),
    sampler: oneOf(decoderTypes, "float32").describe(
      "How weights are kept to sample with: rounded ones take less memory, and the update corrects for them",
    ),
    cache: oneOf(cacheTypes, "float32").describe(
      "How keys and values are kept to sample with: float16 takes half the memory, and the update corrects for it",
    ),
    weights: oneOf(weightPrecisions, "float32").describe(
      "Precision of the weights between training steps: bfloat16 rounds them stochastically after each step and keeps gradients and optimizer state in float32, so that sampler=bfloat16 and checkpoints of half the size are exact",
    ),
    matmul_precision: oneOf(weightPrecisions, "float32").describe(
      "Precision of the large matrix products of training: bfloat16 rounds their factors and adds in float32, on the native and wasm backends; weights, gradients and optimizer state stay in float32, and the update corrects for a sampler that differs",
    ),
    correct_sampler: flag(true).describe(
      "Where what samples is not what trains and rollout_correction asks for nothing: weights per token; off: metrics alone",
    ),
    correct_like: z
      .enum(["verl", "trl"])
      .default("verl")
      .describe(
        "Where rollout_correction asks for nothing: verl's weight per token, at most 2, or TRL's per trajectory, 0 above 3",
      ),
    inverse_k1: flag(false).describe(
      "As verl: rollout_rs's bounds of k1 are those of p_sampler / p; off: of p / p_sampler, as the weights'",
    ),
    keep_best: flag(true).describe("Keep the checkpoint with the best validation reward"),
    /** What each tree and turn estimator can be told, by its name. */
    credit: section(creditKeys()),
  });
