import { findings } from "../check.js";
import type { Rule } from "./context.js";

const { ok, note, warning, error } = findings("batches");

/** Whether batch sizes go into each other and into the data. */
export const batches: Rule = function* ({ config, train, validation }) {
  const { data, actor_rollout_ref: actor, trainer } = config;
  const { ppo_mini_batch_size: mini } = actor.actor;
  const { n } = actor.rollout;
  const batch = data.train_batch_size;
  if (train && batch > train.length) {
    yield error(
      "batch-over-data",
      `data.train_batch_size is ${batch}, and there are ${train.length} training prompts: no batch can be made`,
      `data.train_batch_size=${Math.max(1, train.length)} or fewer`,
    );
  } else if (train) {
    const steps = Math.floor(train.length / batch);
    const left = train.length - steps * batch;
    const total = trainer.total_training_steps ?? steps * trainer.total_epochs;
    const rest = left > 0 ? `; ${left} prompts of each pass wait for the next` : "";
    yield ok("steps", `${train.length} prompts, ${steps} steps a pass, ${total} in all${rest}`);
  }
  if (mini > batch) {
    yield warning(
      "mini-batch-over-batch",
      `ppo_mini_batch_size is ${mini} prompts and a batch has ${batch}: there is one optimiser step a batch (verl refuses this)`,
      `actor_rollout_ref.actor.ppo_mini_batch_size=${batch} or a part of it`,
    );
  }
  const devices = trainer.n_gpus_per_node * trainer.nnodes;
  if ((batch * n) % devices !== 0) {
    yield note(
      "rows-over-devices",
      `${batch} x ${n} trajectories do not divide over ${devices} devices: nothing here, and verl refuses it`,
      "before exporting for a cluster, choose trainer.n_gpus_per_node so that it divides",
    );
  }
  if (actor.actor.use_dynamic_bsz) {
    const longest = data.max_prompt_length + actor.rollout.response_length;
    if (actor.actor.ppo_max_token_len_per_gpu < longest) {
      yield warning(
        "pass-shorter-than-row",
        `ppo_max_token_len_per_gpu is ${actor.actor.ppo_max_token_len_per_gpu} and a trajectory can have ${longest} tokens: long trajectories go alone, over the limit (verl refuses this)`,
        `actor_rollout_ref.actor.ppo_max_token_len_per_gpu=${2 * longest}`,
      );
    }
  }
  if (validation?.length === 0) {
    yield warning("no-validation", "there are no validation prompts");
  }
};
