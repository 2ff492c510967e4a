import type { Advice, RunFacts } from "../../../common/options/setting.js";
import type { Task } from "../../tasks/task.js";
import type { ModelConfig } from "../../model/config.js";
import type { Tokenizer } from "../../model/tokenizer/tokenizer.js";
import type { Reward } from "../../reward/reward-function.js";
import { completeSettings } from "../../rollout/rules/settings.js";
import { rules } from "../../rollout/rules/registry.js";
import { estimatorNamed, estimatorsByName } from "../../learn/estimators/registry.js";
import { ownName } from "../../run/config/choices.js";
import { creditSettings, expandSettings } from "../../run/config/keys.js";
import type { Config } from "../../run/config/schema.js";
import { type Check, findings } from "../check.js";

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

export type Rule = (context: ConfigContext) => Iterable<Check>;

/** What definitions say of a run, as findings of an area. */
export const advised = (area: string, advice: Advice[]): Check[] =>
  advice.map(({ id, status, found, fix }) => findings(area)[status](id, found, fix));

/** What definitions are told of a run. */
export function runFacts({ actor_rollout_ref: { rollout }, algorithm, lab }: Config): RunFacts {
  const { n, initial_rollouts: initialRollouts, response_length: responseLength } = rollout;
  return {
    ...{ rule: ownName(rules, lab.branch_rule), n, initialRollouts },
    estimator: ownName(estimatorsByName, algorithm.adv_estimator),
    ...{ responseLength, branchProbability: rollout.branch_probability, sampler: lab.sampler },
    branches: lab.branch_rule !== "never" && initialRollouts < n,
  };
}

/** What a branching rule says of a run with it. */
export function ruleAdvice(config: Config): Advice[] {
  const rule = rules.get(config.lab.branch_rule);
  if (!rule) return [];
  if ("decide" in rule) return rule.advice?.(runFacts(config)) ?? [];
  const settings = completeSettings("check", rule, expandSettings(config.lab.expand));
  return rule.advice?.(runFacts(config), settings) ?? [];
}

/** What an estimator of the family says of a run with it. */
export function estimatorAdvice(config: Config): Advice[] {
  const estimator = estimatorNamed(config.algorithm.adv_estimator);
  if (!estimator) return [];
  const settings = creditSettings(config.lab.credit[estimator.name] ?? {});
  return estimator.advice?.(runFacts(config), settings) ?? [];
}

/** Tokens of the longest row a run can make. */
export const longestRow = ({ config }: ConfigContext): number =>
  config.data.max_prompt_length + config.actor_rollout_ref.rollout.response_length;

/** Rows of one step. */
export const rowsOf = ({ config: { data, actor_rollout_ref: actor } }: ConfigContext): number =>
  data.train_batch_size * (actor.rollout.do_sample ? actor.rollout.n : 1);
