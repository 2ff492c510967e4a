import { completeSettings } from "../../rollout/branch/family/complete-settings.js";
import { expansionRules, fixedRows, isExpansion } from "../../rollout/branch/family/settings.js";
import { expandSettings } from "./expand-settings.js";
import type { Config } from "./schema.js";

/** What mini-batches are cut from, and by which key: each must come out whole. */
const divisions = (config: Config) =>
  [
    ["actor_rollout_ref.actor.ppo_mini_batch_size", config.actor_rollout_ref.actor],
    ...(config.algorithm.adv_estimator === "gae"
      ? ([["critic.ppo_mini_batch_size", config.critic]] as const)
      : []),
  ] as const;

/** Throws for values that are good each and no good together. */
export function refuseTogether(config: Config): void {
  const { train_batch_size: batch } = config.data;
  for (const [key, { ppo_mini_batch_size: mini }] of divisions(config)) {
    // One larger than the batch is the whole batch.
    if (mini >= batch || batch % mini === 0) continue;
    throw new RangeError(
      `Cannot load the configuration: ${key}: must divide data.train_batch_size (in a cell: miniBatch and prompts), ${batch}, got ${mini}`,
    );
  }
  const { policy_loss: loss } = config.actor_rollout_ref.actor;
  if (loss.loss_mode === "dro" && loss.dro_beta === null) {
    throw new RangeError(
      "Cannot load the configuration: actor_rollout_ref.actor.policy_loss.loss_mode: dro needs policy_loss.dro_beta, got none",
    );
  }
  refuseRows(config);
  const { resume_mode: mode, resume_from_path: from } = config.trainer;
  if (mode === "resume_path" && from === null) {
    throw new RangeError(
      "Cannot load the configuration: trainer.resume_mode: resume_path needs trainer.resume_from_path, got none",
    );
  }
}

/** Throws where a rule that looks at what was written cannot be set so, or makes another number of rows. */
function refuseRows({ lab, actor_rollout_ref: { rollout } }: Config): void {
  const { branch_rule: rule } = lab;
  const given = expandSettings(lab.expand);
  if (!isExpansion(rule)) {
    const [key] = Object.keys(given);
    if (key === undefined) return;
    throw new RangeError(
      `Cannot load the configuration: lab.expand: is for the rules ${expansionRules.join(", ")}, got lab.branch_rule ${rule}`,
    );
  }
  if (rollout.enable_dynamic_rollouts) {
    throw new RangeError(
      `Cannot load the configuration: actor_rollout_ref.rollout.enable_dynamic_rollouts: is for AEPO's rules, got lab.branch_rule ${rule}`,
    );
  }
  const { n } = fixedRows(completeSettings("load the configuration: lab.expand", rule, given));
  if (n === undefined || n === rollout.n) return;
  throw new RangeError(
    `Cannot load the configuration: actor_rollout_ref.rollout.n: must be the ${n} rows that lab.branch_rule ${rule} makes of lab.expand, got ${rollout.n}`,
  );
}
