import { correctionOf } from "../../learn/correction/rollout-correction.js";
import { updateOptions } from "../../run/trainer/options.js";
import { finding, type Rule } from "./context.js";

const about = finding("sampler");

/** Whether what samples is what trains, what is done where it is not, and which prompts are dropped. */
export const correction: Rule = ({ config }) => {
  const { algorithm, lab, actor_rollout_ref: ref } = config;
  const found = [];
  const options = updateOptions(config).rolloutCorrection;
  try {
    const settings = correctionOf(options, []);
    const asked = typeof options === "object" && options.when !== "auto";
    const loss = ref.actor.policy_loss.loss_mode;
    if (settings?.bypass && loss !== "vanilla") {
      found.push(
        about(
          "bypass-loss",
          "error",
          `rollout_correction.bypass_mode brings its own loss, and policy_loss.loss_mode is ${loss}`,
          "actor_rollout_ref.actor.policy_loss.loss_mode=vanilla",
        ),
      );
    }
    const other =
      lab.sampler !== "float32"
        ? `with ${lab.sampler} weights`
        : lab.matmul_precision !== "float32"
          ? "in float32 where training multiplies in bfloat16"
          : undefined;
    if (other !== undefined && !asked) {
      found.push(
        lab.correct_sampler
          ? about(
              "sampler-corrected",
              "note",
              `rollouts are sampled ${other}, which is not quite the policy that trains: each token is weighed by p / p_sampler, at most ${algorithm.rollout_correction.rollout_is_threshold}; see rollout_corr/k3_kl`,
            )
          : about(
              "sampler-uncorrected",
              "warning",
              `rollouts are sampled ${other} and nothing corrects for it`,
              "lab.correct_sampler=true",
            ),
      );
    }
  } catch (error) {
    found.push(
      about(
        "correction-wrong",
        "error",
        (error as Error).message,
        "docs/config.md says what algorithm.rollout_correction takes",
      ),
    );
  }
  const { enable, max_num_gen_batches: limit } = algorithm.filter_groups;
  if (enable && limit <= 0) {
    found.push(
      about(
        "filter-unlimited",
        "note",
        "filter_groups rolls out until the batch is full, however long: a policy that always or never succeeds never fills it",
        "algorithm.filter_groups.max_num_gen_batches=10",
      ),
    );
  }
  return found;
};
