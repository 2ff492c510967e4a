import { integer } from "../../../common/options/check-options.js";
import { following, key, option, unset } from "../../../common/options/option-table.js";

// What a run can be told in a cell under a name that only runs have. The configuration's own defaults are those of the
// reference; a cell's are for a run that somebody waits for.

const most = 1e9;

export const runTable = {
  /** Steps of the run. Default: 10, where there is no `budget`. */
  steps: unset(
    integer(1),
    key("trainer.total_training_steps", "Steps; overrides the epochs", { most }),
  ),
  /** The longest answer, in tokens, results of tools among them. Default: the `tiny` preset's. */
  responseLength: following(
    integer(1),
    key("data.max_response_length", "Longest response in tokens, results included", {
      ...{ by: 512, most: 1_000_000 },
    }),
  ),
  /** Prompts per step, no more than there are tasks. Default: 8. */
  prompts: option(
    integer(1),
    8,
    key("data.train_batch_size", "Prompts per step", { by: 1024, most: 1_000_000 }),
  ),
  /** Prompts per optimiser step; must divide `prompts`. Default: 2, of an odd number 1. */
  miniBatch: following(
    integer(1),
    key("actor_rollout_ref.actor.ppo_mini_batch_size", "Prompts per optimiser step", {
      ...{ by: 256, most: 1_000_000 },
    }),
  ),
  /** The same seed gives the same run. Default: 1. */
  seed: option(integer(0), 1, key("lab.seed", "Same seed, same backend: the same bytes")),
  /**
   * Roll out further prompts until the run has so many tokens per step: runs that are compared then
   * make equally many updates. `prompts` is the fewest of a step. Default: none, `prompts` decides.
   */
  tokensPerStep: unset(
    integer(1),
    key(
      "lab.budget.tokens_per_step",
      "Roll out further prompts until the run has so many tokens per step: runs that are compared make equally many updates. data.train_batch_size is then the fewest prompts of a step",
      { most },
    ),
  ),
};

/** What a run may spend. */
export const budgetTable = {
  /** Tokens that rollouts may draw; the step that reaches them is the last. Default: none. */
  tokens: unset(
    integer(1),
    key(
      "lab.budget.tokens",
      "End behind the step that has drawn so many tokens; any budget takes the place of steps and epochs",
      { most },
    ),
  ),
  /** The same in tool calls. Default: none. */
  calls: unset(integer(1), key("lab.budget.calls", "The same in tool calls", { most })),
  /** The same in trajectories. Default: none. */
  trajectories: unset(
    integer(1),
    key("lab.budget.trajectories", "The same in trajectories", { most }),
  ),
};

/** Over what the learning rate is raised. */
export const warmupTable = {
  /** Tokens over which the learning rate rises. Default: none, it rises over steps. */
  tokens: unset(
    integer(1),
    key(
      "lab.budget.warmup_tokens",
      "Raise the learning rate over so many tokens, rather than over steps",
      { most },
    ),
  ),
};
