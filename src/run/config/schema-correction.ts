import { z } from "#zod";
import { atLeast, flag, kept, oneOf, section, whole } from "./kinds.js";

const bounds = z.union([z.number().positive(), z.string().min(1)]);

/** DAPO's group filter. */
export const filterGroups = section({
  enable: flag(false).describe("Drop prompts whose rows are all the same, and roll out more"),
  metric: z
    .string()
    .min(1)
    .nullable()
    .default(null)
    .describe(
      "What rows must differ in: acc (the default), seq_reward, seq_final_reward (after KL), or a part of the reward",
    ),
  max_num_gen_batches: whole(0).describe(
    "Batches a step may roll out before the run stops with an error; 0 or less: any number",
  ),
  max_inflight_gen_batches: kept(atLeast(1, 1)),
});

/** The correction for a sampler that is not the policy that trains. */
export const rolloutCorrection = section({
  rollout_is: z
    .enum(["token", "sequence"])
    .nullable()
    .default(null)
    .describe("Importance weights by token or by row; null: as lab.correct_sampler says"),
  rollout_is_threshold: bounds
    .default(2)
    .describe("A number truncates weights (TIS); lower_upper drops those outside (IcePop)"),
  rollout_is_batch_normalize: flag(false).describe("Divide weights by their mean"),
  rollout_rs: z
    .string()
    .min(1)
    .nullable()
    .default(null)
    .describe("Tests that tokens or rows must pass, such as token_k1 or seq_mean_k3, with commas"),
  rollout_rs_threshold: bounds
    .nullable()
    .default(null)
    .describe("What they are held to: one bound, or one each; lower_upper for k1"),
  bypass_mode: flag(false).describe("Take ratios against the sampler itself and measure nothing"),
  loss_type: oneOf(["ppo_clip", "reinforce"], "ppo_clip").describe("What bypass minimises"),
});
