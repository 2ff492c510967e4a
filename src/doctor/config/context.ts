import { defined } from "../../../arguments/defined.js";
import type { Task } from "../../data/task.js";
import type { ModelConfig } from "../../model/config.js";
import type { Tokenizer } from "../../model/tokenizer/tokenizer.js";
import type { Reward } from "../../reward/reward-function.js";
import type { Config } from "../../run/config/schema.js";
import type { Check, Status } from "../check.js";

/** What rules look at. Parts that could not be read are absent, and said elsewhere. */
export interface ConfigContext {
  config: Config;
  /** Keys that mean something only on a cluster. */
  kept: readonly string[];
  model?: ModelConfig;
  /** Weights of the model. */
  parameters?: number;
  tokenizer?: Tokenizer;
  train?: readonly Task[];
  validation?: readonly Task[];
  reward?: Reward;
  /** Tags of the tools that load. */
  tags?: readonly string[];
  /** Bytes this process may use. */
  memory: number;
  /** Multiplications and additions a second, measured. */
  speed?: number;
}

export type Rule = (context: ConfigContext) => Check[];

/** Makes the findings of one area. */
export const finding =
  (area: string) =>
  (id: string, status: Status, found: string, fix?: string): Check => ({
    id,
    area,
    status,
    found,
    ...defined({ fix }),
  });

/** Tokens of the longest row a run can make. */
export const longestRow = ({ config }: ConfigContext): number =>
  config.data.max_prompt_length + config.actor_rollout_ref.rollout.response_length;

/** Rows of one step. */
export const rowsOf = ({ config: { data, actor_rollout_ref: actor } }: ConfigContext): number =>
  data.train_batch_size * (actor.rollout.do_sample ? actor.rollout.n : 1);

/** Whether a reference policy is kept beside the one that learns. */
export const hasReference = ({ config: { algorithm, actor_rollout_ref: ref } }: ConfigContext) =>
  algorithm.use_kl_in_reward || (ref.actor.use_kl_loss && ref.actor.kl_loss_coef !== 0);
