import { z } from "#zod";
import { estimatorNames } from "../../learn/advantages.js";
import { at2poAdvantages, at2poValues } from "../../learn/credit/at2po.js";
import { treeGrpoForms } from "../../learn/credit/tree-grpo.js";
import { treePoForms } from "../../learn/credit/treepo.js";
import { treeRlBonuses, treeRlCentres, treeRlWeights } from "../../learn/credit/treerl.js";
import { turnBaselines } from "../../learn/credit/turn-baseline.js";
import { klKinds } from "../../learn/loss/kl.js";
import { aggregationRules } from "../../learn/loss/options.js";
import { cacheTypes, decoderTypes } from "../../model/decoder/weights.js";
import { weightPrecisions } from "../../model/transformer/weights.js";
import { branchRules } from "../../rollout/branch/branch-rule.js";
import { branchSignals, expansionRules } from "../../rollout/branch/family/settings.js";
import { treepoAllocations } from "../../rollout/branch/family/treepo.js";
import { kept } from "./kept-keys.js";
import {
  atLeast,
  flag,
  number,
  oneOf,
  optionalCount,
  optionalText,
  path,
  positive,
  section,
  share,
  text,
  weight,
  whole,
} from "./kinds.js";

const deviation = (by: boolean) => flag(by).describe("Divide by the group's deviation");

/** What each tree and turn estimator can be told, by its name. */
const credit = section({
  tree_grpo: section({
    form: oneOf([...treeGrpoForms, "tree_diff"], "tree").describe("Which of its estimators"),
    lone_row: oneOf(["zero", "reward"], "zero").describe("What a tree of one trajectory adds"),
    margin: weight(0.1).describe("tree_diff: what a step must gain on its parent"),
  }),
  at2po: section({
    normalize_leaves: flag(true).describe("Normalise the scores within the tree first"),
    value: oneOf(at2poValues, "child_softmax").describe("What an inner turn is worth"),
    advantage: oneOf(at2poAdvantages, "node_value").describe("What a turn gets of that"),
    signal: oneOf(["surprisal", "entropy"], "surprisal").describe("What child_softmax weighs by"),
  }),
  treerl: section({
    rule: oneOf(["code", "paper"], "code").describe("The published code's sums or the paper's"),
    weights: oneOf(treeRlWeights, "sqrt").describe("What a segment's sum is divided by"),
    centre: oneOf(treeRlCentres, "none").describe("What mean is taken off all sums"),
    bonus: oneOf(treeRlBonuses, "state").describe("What is added to the difference to the parent"),
    fill: flag(true).describe("A segment of value 0 gets its predecessor's"),
    average_children: flag(false).describe("Inner sums are means over the children"),
    penalize_cut: flag(false).describe("Trajectories that were cut count -1 among the leaves"),
    all_ancestors: flag(false).describe("Differences to all segments above, and nothing else"),
    leaves: optionalCount.describe("Trajectories of a prompt that are trained on; null: all"),
    balance: share(0).describe("The share of them that is right, and as many wrong"),
    punish_cut: flag(true).describe("Trajectories that were cut get -1 on every token"),
  }),
  appo: section({
    normalize_by_deviation: deviation(true),
    reward_scale_discount: share(0.9).describe(
      "Its reward scale, without effect on outcome rewards; 0: off",
    ),
  }),
  treepo: section({
    form: oneOf(treePoForms, "tree").describe("Which of its estimators"),
    weights: oneOf(["average", "size"], "average").describe("How depths are averaged"),
    skip_equal: flag(false).describe("Leave out groups below the prompt with equal rewards"),
    parent_decay: number(-1).describe("segment: what the parent counts; 0 or less: all"),
  }),
  spo_chain: section({
    threshold: share(0.9).describe("Tokens drawn with a greater probability get nothing"),
  }),
  spo_tree: section({
    form: oneOf(["rloo", "grpo"], "rloo").describe("grpo divides by the siblings' deviation"),
    only_nonzero: flag(true).describe("Segments that say nothing get nothing"),
  }),
  fr3e: section({
    value: oneOf(["positive-share", "mean-reward"], "positive-share").describe(
      "What a state is worth: by the code, by the paper",
    ),
    sharpen: flag(true).describe("Differences to the power of 1.5, over their sum"),
    normalize_by_deviation: deviation(false),
    drop_settled: flag(true).describe("Leave out states whose trajectories all got the same"),
  }),
  mt_grpo: section({
    turn_coefficient: number(1).describe("What the turn's advantage counts"),
  }),
  gigpo: section({
    gamma: share(1).describe("Discount of the steps' rewards"),
    step_weight: weight(1).describe("What the step's advantage counts"),
    normalize_by_deviation: deviation(false),
    episode_baseline: oneOf(["step", "trajectory"], "step").describe(
      "step: long trajectories count once for each of their steps",
    ),
    similarity: z
      .number()
      .gt(0)
      .max(1)
      .nullable()
      .default(null)
      .describe("Observations at least this alike are one; null: equal ones"),
  }),
  turn_baseline: section({
    baseline: oneOf(turnBaselines, "padded").describe("turn-index is biased"),
    outcome: flag(true).describe("The outcome counts as the last turn's"),
  }),
});

const count = (least: number, said: string) =>
  z.number().int().min(least).max(1_000_000).nullable().default(null).describe(said);
const figure = (said: string) => z.number().nullable().default(null).describe(said);

/** Settings of the rules that look at what was written; null is the published value. */
const expand = section({
  trees: count(1, "tree-grpo, treerl: trees per prompt, each from one chain"),
  rounds: count(0, "tree-grpo, at2po, treerl: rounds of branching"),
  points: count(1, "Places chosen per tree and round; fr3e: anchors per rollout"),
  rows: count(1, "treerl, fr3e: trajectories from every place"),
  keep: count(1, "tree-grpo: leaves kept per tree"),
  signal: z
    .enum([...branchSignals, "random", "group-mixed"])
    .nullable()
    .default(null)
    .describe(
      "What places are ranked by; random: each alike; group-mixed: redraw alone, by the first trajectories' outcomes",
    ),
  penalty: figure("at2po: what every sibling takes off a turn's signal"),
  upsampling: count(0, "treerl: above 0, places lie far apart, chosen from so many times more"),
  max_length: count(1, "treerl: tokens of a first chain that count"),
  gamma: figure("appo: discount of what is to come"),
  clip: figure("appo: the future value stays within 1 plus or minus this; 0: no bound"),
  right: count(0, "fr3e: right rollouts explored"),
  wrong: count(0, "fr3e: wrong rollouts explored"),
  segment: count(1, "treepo, spo-tree: tokens of a segment"),
  depth: count(1, "treepo: segments of a path"),
  divergence: count(1, "treepo: continuations per path"),
  first: z
    .tuple([z.number().int().min(1), z.number().int().min(1)])
    .nullable()
    .default(null)
    .describe("treepo: the first step makes from so many to so many paths"),
  allocation: z
    .enum(treepoAllocations)
    .nullable()
    .default(null)
    .describe("treepo: how continuations are shared"),
  temperature: figure("treepo: of a weighted allocation"),
  factors: z
    .array(z.number().int().min(1))
    .min(1)
    .nullable()
    .default(null)
    .describe("spo-tree: branch factors by depth"),
});

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

/** The loggers there are. */
const loggerNames = ["console", "tensorboard", "mlflow", "wandb"] as const;

/** From rewards to advantages. */
export const algorithm = section({
  adv_estimator: oneOf(estimatorNames, "gae").describe("How rewards become advantages"),
  gamma: z.number().min(0).max(1).default(1).describe("Discount"),
  lam: z.number().min(0).max(1).default(1).describe("GAE's lambda"),
  norm_adv_by_std_in_grpo: flag(true).describe("GRPO: divide by the group's deviation"),
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
export const trainer = section({
  total_epochs: atLeast(1, 30).describe("Passes over the training prompts"),
  total_training_steps: optionalCount.describe("Steps; overrides the epochs"),
  project_name: text("verl_examples").describe("The project, in folders and loggers"),
  experiment_name: text("gsm8k").describe("The run's name, in folders and loggers"),
  logger: z
    .array(z.enum(loggerNames))
    .default(["console", "wandb"])
    .describe("console, tensorboard, mlflow, wandb (an offline run for `wandb sync`)"),
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
  tokens: optionalCount.describe(
    "End behind the step that has drawn so many tokens; any budget takes the place of steps and epochs",
  ),
  calls: optionalCount.describe("The same in tool calls"),
  trajectories: optionalCount.describe("The same in trajectories"),
  warmup_tokens: optionalCount.describe(
    "Raise the learning rate over so many tokens, rather than over steps",
  ),
  tokens_per_step: optionalCount.describe(
    "Roll out further prompts until the run has so many tokens per step: runs that are compared make equally many updates. data.train_batch_size is then the fewest prompts of a step",
  ),
  test_at_tokens: mark.describe("Also validate behind the steps that reach these"),
  test_at_calls: mark.describe("The same in tool calls"),
});

/** What the reference has no key for. Left out when a config is exported for verl. */
export const lab = section({
  seed: z.number().int().min(0).default(1).describe("Same seed, same backend: the same bytes"),
  budget,
  group: optionalText.describe(
    "The group that wandb puts the run into, such as the seeds of one setting",
  ),
  branch_rule: oneOf([...branchRules, ...expansionRules, "never"], "arpo-code").describe(
    "The branching rule",
  ),
  expand,
  share_prefixes: flag(false).describe(
    "Compute what trajectories begin with in common once in an update: the same gradients",
  ),
  reuse_log_probs: flag(false).describe(
    "Take log-probabilities from before the update as the rollout said them, where the policy that trains sampled: equal to rounding, without a pass over the trajectories",
  ),
  loss_aggregation: z
    .enum(aggregationRules)
    .nullable()
    .default(null)
    .describe(
      "Whose arithmetic loss_agg_mode follows: older verl's or 0.9.1's; none: the loss's own",
    ),
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
  inverse_k1: flag(false).describe(
    "As verl: rollout_rs's bounds of k1 are those of p_sampler / p; off: of p / p_sampler, as the weights'",
  ),
  keep_best: flag(true).describe("Keep the checkpoint with the best validation reward"),
  credit,
});
