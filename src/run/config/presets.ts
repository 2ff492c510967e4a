import { defined } from "../../../common/options/defined.js";
import { type LossPreset, lossPresets } from "../../learn/losses/registry.js";
import { learnPresets } from "../../learn/presets.js";
import { type FamilyPreset, familyPresets } from "../../rollout/presets.js";
import { algorithms, type CellPreset } from "../presets.js";
import { actorKeysOf } from "./loss-keys.js";
import { type Tree, merge } from "./tree.js";

/** What every published script sets, whatever the hardware. */
const published: Tree = {
  algorithm: { adv_estimator: algorithms.arpo.estimator, kl_ctrl: { kl_coef: 0 } },
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

/** What a cell's preset says about rolling out, under the configuration's keys. */
const rolloutKeys = (preset: (typeof algorithms)["grpo" | "arpo" | "aepo"]): Tree => ({
  n: preset.n,
  initial_rollouts: preset.initialRollouts,
  beam_size: preset.beamSize,
  ...("branchProbability" in preset
    ? { branch_probability: preset.branchProbability, entropy_weight: preset.entropyWeight }
    : {}),
});

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

type LossOnly = Exclude<LossPreset, FamilyPreset | "ppo" | "dapo" | "dr-grpo">;

/** Losses to lay over an algorithm: those of methods that are no algorithm with PPO's own. */
const lossesOnly = Object.fromEntries(
  Object.entries(lossPresets)
    .filter(([name, { loss }]) => loss !== "vanilla" && !familyPresets.includes(name as never))
    .map(([name, set]): [string, Tree] => [
      name,
      { actor_rollout_ref: { actor: actorKeysOf(set) } },
    ]),
) as Record<LossOnly, Tree>;

/** A method whose rule looks at what was written: its trajectories, its credit and its loss. */
function method(name: FamilyPreset): Tree {
  const preset: CellPreset = algorithms[name];
  const { temperature, topP } = preset.sampling ?? {};
  const length = preset.responseLength;
  const { estimator, ...loss } = learnPresets[name];
  const rollout: Tree = {
    n: preset.n,
    initial_rollouts: preset.initialRollouts,
    ...defined({ temperature, top_p: topP }),
  };
  return {
    ...withRollout(published, actorKeysOf(loss), rollout, { lab: { branch_rule: preset.rule } }),
    algorithm: { adv_estimator: estimator, kl_ctrl: { kl_coef: 0 } },
    ...(length === undefined ? {} : { data: { max_response_length: length } }),
  };
}

/**
 * Named starting points: the algorithms (`grpo`, `arpo`, `aepo`), the methods around them (by the names of
 * their rules, see docs/family.md) and, to lay over one of them, the sizes of the published scripts (`7b`, `8b`, `14b`), of the seed's toy (`3b-toy`) and of a laptop
 * (`tiny`), and losses by their methods' names (`gmpo`, `sapo`, …).
 */
export const configPresets = {
  grpo: withRollout(published, {}, rolloutKeys(algorithms.grpo)),
  arpo: withRollout(published, {}, rolloutKeys(algorithms.arpo)),
  aepo: withRollout(
    published,
    {
      enable_entropy_balanced_clipping: algorithms.aepo.entropyBalancedClipping,
      enable_entropy_balanced_advantage: algorithms.aepo.entropyBalancedAdvantage,
    },
    {
      ...rolloutKeys(algorithms.aepo),
      enable_dynamic_rollouts: algorithms.aepo.dynamicRollouts,
      // Both of AEPO's files; ARPO's base file has 3, 64 and 3, the schema's defaults.
      tools: { call_limit: algorithms.aepo.callLimit, max_workers: 32, retry_count: 4 },
    },
    { lab: { branch_rule: algorithms.aepo.rule } },
  ),
  ...(Object.fromEntries(familyPresets.map((name) => [name, method(name)])) as Record<
    FamilyPreset,
    Tree
  >),
  ...lossesOnly,
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

export type ConfigPreset = keyof typeof configPresets;
