import { correctionOf } from "../../learn/correction/rollout-correction.js";
import { stalenessPlan, updateOptions } from "../../run/trainer/options.js";
import { findings } from "../check.js";
import type { Rule } from "./context.js";

const { note, warning, error } = findings("sampler");

/** Whether what samples is what trains, what is done where it is not, and which prompts are dropped. */
export const correction: Rule = function* ({ config }) {
  const { algorithm, lab, actor_rollout_ref: ref } = config;
  const options = updateOptions(config).rolloutCorrection;
  try {
    const settings = correctionOf(options, []);
    const asked = typeof options === "object" && options.when !== "auto";
    const loss = ref.actor.policy_loss.loss_mode;
    if (settings?.bypass && loss !== "vanilla") {
      yield error(
        "bypass-loss",
        `rollout_correction.bypass_mode brings its own loss, and policy_loss.loss_mode is ${loss}`,
        "actor_rollout_ref.actor.policy_loss.loss_mode=vanilla",
      );
    }
    const { isAsync, ahead, syncEvery } = stalenessPlan(config, config.data.train_batch_size);
    const stale = isAsync
      ? `by weights that are up to ${ahead + syncEvery - 1} updates old`
      : undefined;
    const other =
      stale ??
      (lab.sampler !== "float32"
        ? `with ${lab.sampler} weights`
        : lab.matmul_precision !== "float32"
          ? "in float32 where training multiplies in bfloat16"
          : undefined);
    if (other !== undefined && !asked) {
      yield lab.correct_sampler
        ? note(
            "sampler-corrected",
            `rollouts are sampled ${other}, which is not quite the policy that trains: each token is weighed by p / p_sampler, at most ${algorithm.rollout_correction.rollout_is_threshold}; see rollout_corr/k3_kl`,
          )
        : warning(
            "sampler-uncorrected",
            `rollouts are sampled ${other} and nothing corrects for it`,
            "lab.correct_sampler=true",
          );
    }
  } catch (wrong) {
    yield error(
      "correction-wrong",
      (wrong as Error).message,
      "docs/config.md says what algorithm.rollout_correction takes",
    );
  }
  const { enable, max_num_gen_batches: limit } = algorithm.filter_groups;
  if (enable && limit <= 0) {
    yield note(
      "filter-unlimited",
      "filter_groups rolls out until the batch is full, however long: a policy that always or never succeeds never fills it",
      "algorithm.filter_groups.max_num_gen_batches=10",
    );
  }
};
