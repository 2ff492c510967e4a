import { needsOf } from "../../learn/estimators/registry.js";
import { existsSync } from "node:fs";
import { findings } from "../check.js";
import type { Rule } from "./context.js";

const { note, warning, error } = findings("trainer");

/** Loggers, checkpoints and resuming, and keys that mean nothing here. */
export const trainerRules: Rule = function* ({ config, kept, parameters = 0, train }) {
  const { trainer, algorithm, actor_rollout_ref: actor } = config;
  if (trainer.resume_mode === "resume_path") {
    const { resume_from_path: path } = trainer;
    if (path === null || !existsSync(path)) {
      yield error(
        "nothing-to-resume",
        `trainer.resume_mode=resume_path, and trainer.resume_from_path ${path === null ? "is not set" : `(${path}) does not exist`}`,
        "trainer.resume_mode=auto resumes where the run folder ends",
      );
    }
  }
  const perPass = train ? Math.floor(train.length / config.data.train_batch_size) : 0;
  const steps = trainer.total_training_steps ?? perPass * trainer.total_epochs;
  if (trainer.save_freq <= 0 && steps > 20) {
    yield warning(
      "saves-once",
      `trainer.save_freq=${trainer.save_freq}: of ${steps} steps only the last is kept, and a run that dies has nothing`,
      "trainer.save_freq=10",
    );
  } else if (trainer.save_freq > 0 && trainer.max_actor_ckpt_to_keep === null) {
    const bytes = Math.floor(steps / trainer.save_freq) * parameters * 12;
    if (bytes > 20 * 2 ** 30) {
      yield warning(
        "checkpoints-large",
        `checkpoints will take about ${(bytes / 2 ** 30).toFixed(0)} GiB`,
        "trainer.max_actor_ckpt_to_keep=2",
      );
    }
  }
  if (trainer.critic_warmup > 0 && needsOf(algorithm.adv_estimator) !== "values") {
    yield warning(
      "warms-up-nothing",
      `trainer.critic_warmup=${trainer.critic_warmup} with ${algorithm.adv_estimator}, which has no critic: the policy waits for nothing`,
      "trainer.critic_warmup=0",
    );
  }
  if (
    actor.actor.enable_entropy_balanced_advantage &&
    needsOf(algorithm.adv_estimator) === "values"
  ) {
    yield note("aepo-with-gae", "AEPO's weighing by entropy was published for grpo, not gae");
  }
  if (kept.length > 0) {
    yield note(
      "cluster-keys",
      `without meaning here, kept for a cluster: ${kept.slice(0, 6).join(", ")}${kept.length > 6 ? ` and ${kept.length - 6} more` : ""}`,
    );
  }
};
