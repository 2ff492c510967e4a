import { type Tree, merge } from "./tree.js";

/** What every published script sets, whatever the hardware. */
const published: Tree = {
  algorithm: { adv_estimator: "grpo", kl_ctrl: { kl_coef: 0 } },
  actor_rollout_ref: {
    actor: {
      use_dynamic_bsz: true,
      use_kl_loss: true,
      kl_loss_coef: 0,
      kl_loss_type: "low_var_kl",
    },
  },
  trainer: { val_before_train: false, critic_warmup: 0, save_freq: 5, test_freq: 5 },
};

const withRollout = (base: Tree, actor: Tree, rollout: Tree, rest: Tree = {}): Tree => ({
  ...base,
  ...rest,
  actor_rollout_ref: {
    ...(base["actor_rollout_ref"] as Tree),
    actor: { ...((base["actor_rollout_ref"] as Tree)["actor"] as Tree), ...actor },
    rollout: { mode: "sync_with_tool", ...rollout },
  },
});

const tree = {
  n: 16,
  initial_rollouts: 8,
  beam_size: 2,
  branch_probability: 0.5,
  entropy_weight: 0.2,
};
const balanced = {
  enable_entropy_balanced_clipping: true,
  enable_entropy_balanced_advantage: true,
};

/** Batches, lengths and rollouts of a published script, and how often it goes over its prompts. */
const sizes = (
  prompts: number,
  mini: number,
  prompt: number,
  response: number,
  rollout: Tree,
  epochs?: number,
) => ({
  ...(epochs === undefined ? {} : { trainer: { total_epochs: epochs } }),
  data: { train_batch_size: prompts, max_prompt_length: prompt, max_response_length: response },
  actor_rollout_ref: {
    actor: { ppo_mini_batch_size: mini, ppo_max_token_len_per_gpu: 2 * (prompt + response) },
    rollout,
  },
});

/**
 * Named starting points: the algorithms (`grpo`, `arpo`, `aepo`) and, to lay over one of them, the
 * sizes of the published scripts (`7b`, `8b`, `14b`), of the seed's toy (`3b-toy`) and of a laptop
 * (`tiny`).
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { loadConfig } from "arpo-lab/run";
 *
 * const { config } = await loadConfig({ preset: ["aepo", "14b"] });
 * assert.equal(config.actor_rollout_ref.rollout.tools.call_limit, 6);
 * assert.ok(config.actor_rollout_ref.actor.enable_entropy_balanced_clipping);
 * ```
 */
export const presets = {
  // No branching: every row starts from the prompt.
  grpo: withRollout(published, {}, { n: 16, initial_rollouts: 16, beam_size: 1 }),
  arpo: withRollout(published, {}, tree),
  aepo: withRollout(
    published,
    balanced,
    {
      ...tree,
      enable_dynamic_rollouts: false,
      // Both of AEPO's files; ARPO's base file has 3, 64 and 3, the schema's defaults.
      tools: { call_limit: 6, max_workers: 32, retry_count: 4 },
    },
    {
      lab: { branch_rule: "aepo-code" },
    },
  ),
  tiny: merge(sizes(8, 2, 256, 128, { tools: { call_limit: 3 } }), {
    actor_rollout_ref: {
      model: { enable_gradient_checkpointing: false },
      // The published 1e-6 is for billions of parameters. Without a slow start some runs forget how to
      // copy numbers in their first steps and never learn it again; without a fall they end below
      // their best.
      actor: {
        optim: { lr: 3e-4, lr_warmup_steps_ratio: 0.1, warmup_style: "cosine", min_lr_ratio: 0.1 },
      },
      rollout: { val_kwargs: { do_sample: true, temperature: 1 } },
    },
    critic: { model: { enable_gradient_checkpointing: false } },
    trainer: { total_training_steps: 40, val_before_train: true, test_freq: 10, save_freq: 10 },
  }),
  "3b-toy": sizes(4, 4, 512, 512, { n: 4, initial_rollouts: 2, tools: { call_limit: 3 } }),
  // The reasoning script keeps its base file's call limit: 3, or AEPO's 6.
  "7b": sizes(128, 16, 1536, 4096, { n: 16, initial_rollouts: 8 }, 2),
  "8b": sizes(128, 16, 2000, 10000, { n: 16, initial_rollouts: 8, tools: { call_limit: 6 } }, 5),
  "14b": sizes(64, 8, 2000, 6192, { n: 12, initial_rollouts: 6, tools: { call_limit: 6 } }, 5),
} satisfies Record<string, Tree>;

export type Preset = keyof typeof presets;
