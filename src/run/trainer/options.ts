import { checkArguments } from "../../../common/options/check-arguments.js";
import { isRecord } from "../../../common/options/is-record.js";
import { advantageTable } from "../../learn/advantage-settings.js";
import type { AdvantageOptions } from "../../learn/advantages.js";
import type { RolloutCorrection } from "../../learn/correction/rollout-correction.js";
import type { Cost } from "../../learn/measures/spent.js";
import { type CriticOptions, criticTable } from "../../learn/update/critic-settings.js";
import { learningRateFactor } from "../../learn/update/schedule.js";
import { type UpdateOptions, updateTable } from "../../learn/update/update-settings.js";
import type { ScoreOptions } from "../../reward/score-trees.js";
import type { RolloutOptions } from "../../rollout/options.js";
import { estimatorsByName, familyDefinitions } from "../../learn/estimators/registry.js";
import { dynamicTable, rolloutSettings } from "../../rollout/settings.js";
import { rules } from "../../rollout/rules/registry.js";
import { callDialects } from "../../tools/calls/dialects/registry.js";
import { chosen } from "../config/choices.js";
import { camel } from "../config/choice-keys.js";
import { optionsIn } from "../config/from-table.js";
import { creditSettings, expandSettings } from "../config/keys.js";
import { lossOptions } from "../config/loss-keys.js";
import type { Config } from "../config/schema.js";
import { stalenessTable } from "../staleness/options.js";
import { StalenessPlan } from "../staleness/plan.js";

/** What a run is told that a configuration has no key for: it is laid over what the configuration says. */
export interface Told {
  rollout?: RolloutOptions;
  advantages?: AdvantageOptions;
  update?: UpdateOptions;
}

/** Options over others; those of an object are laid over its own. */
export const laidOver = <T extends object>(below: T, told: Partial<T> = {}): T => ({
  ...below,
  ...Object.fromEntries(
    Object.entries(told).map(([name, value]) => {
      const was = (below as Record<string, unknown>)[name];
      return [name, isRecord(was) && isRecord(value) ? { ...was, ...value } : (value as unknown)];
    }),
  ),
});

// How far a run is: in steps, or in what its budget counts.

/** A place in a run: so many of so many. */
export interface Place {
  at: number;
  of: number;
}

const counted = ["tokens", "calls", "trajectories"] as const;

/** Whether a run ends by what it has spent. */
export function hasBudget({ lab: { budget } }: Config): boolean {
  return counted.some((name) => budget[name] !== null);
}

/** Steps of a run; Infinity where a budget ends it. */
export const stepsOf = (config: Config, perEpoch: number): number =>
  hasBudget(config)
    ? Infinity
    : (config.trainer.total_training_steps ?? perEpoch * config.trainer.total_epochs);

/** Where a run is by its budget; the part that is nearest to its end decides. Undefined without one. */
export function placeInBudget({ lab: { budget } }: Config, cost: Cost): Place | undefined {
  const places = counted.flatMap((name): Place[] => {
    const of = budget[name];
    return of === null ? [] : [{ at: Math.min(cost[name], of), of }];
  });
  return places.sort((a, b) => b.at / b.of - a.at / a.of)[0];
}

/** Whether a step has reached a place where the run is to be validated. */
export function reachesTest({ lab: { budget } }: Config, before: Cost, after: Cost): boolean {
  const passes = (marks: readonly number[], from: number, to: number) =>
    marks.some((mark) => from < mark && mark <= to);
  return (
    passes(budget.test_at_tokens, before.tokens, after.tokens) ||
    passes(budget.test_at_calls, before.calls, after.calls)
  );
}

/** What the configuration says about single estimators: its keys are their options' names; null is unset. */
function creditOptions({ lab }: Config): AdvantageOptions {
  const told = familyDefinitions().map(({ name, besides }) => {
    const own = creditSettings(lab.credit[name] ?? {});
    // What an estimator draws follows the run's seed.
    return [camel(name), "seed" in besides ? { ...own, seed: lab.seed } : own];
  });
  return Object.fromEntries(told) as AdvantageOptions;
}

/**
 * What the configuration says about rolling out.
 *
 * @param config a checked configuration
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { loadConfig, rolloutOptions } from "arpo-lab/run";
 *
 * const { config } = await loadConfig({ overrides: ["actor_rollout_ref.rollout.beam_size=3"] });
 * assert.equal(rolloutOptions(config).beamSize, 3);
 * ```
 */
export function rolloutOptions(config: Config): RolloutOptions {
  checkArguments(
    "read a configuration",
    { config },
    { config: { actor_rollout_ref: "object", data: "object", lab: "object" } },
  );
  const { rollout } = config.actor_rollout_ref;
  const { lab } = config;
  const branching =
    lab.branch_rule === "never"
      ? { beamSize: 1 }
      : { rule: chosen(rules, lab.branch_rule), ...expandOptions(config) };
  return {
    ...optionsIn(rolloutSettings, config),
    initialRollouts: Math.min(rollout.initial_rollouts, rollout.n),
    dynamicRollouts: rollout.enable_dynamic_rollouts && optionsIn(dynamicTable, config),
    promptLimit: { length: config.data.max_prompt_length, truncation: config.data.truncation },
    // Bounds memory; no tree depends on it.
    promptsAtOnce: Math.max(1, Math.floor(rollout.max_num_seqs / rollout.n)),
    ...(rollout.tools.calls === "tags" ? {} : { calls: chosen(callDialects, rollout.tools.calls) }),
    sampling: {
      temperature: rollout.do_sample ? rollout.temperature : 0,
      topK: rollout.top_k,
      topP: rollout.top_p,
    },
    ...(rollout.do_sample ? {} : { mode: "validate" as const }),
    ...branching,
  };
}

/** The settings of a rule that looks at what was written; nothing where the rule is another. */
function expandOptions({ lab }: Config): Pick<RolloutOptions, "expand"> {
  const given = expandSettings(lab.expand);
  return Object.keys(given).length > 0 ? { expand: given } : {};
}

/** What the configuration says about validating. */
export function validationOptions(config: Config): RolloutOptions {
  const { val_kwargs: kwargs } = config.actor_rollout_ref.rollout;
  const { temperature, top_k: topK, top_p: topP } = kwargs;
  return {
    ...rolloutOptions(config),
    mode: "validate",
    validation: kwargs.do_sample ? { temperature, topK, topP } : { temperature: 0 },
    keepTop: false,
    promptsAtOnce: config.data.val_batch_size ?? config.actor_rollout_ref.rollout.max_num_seqs,
  };
}

/** What the configuration says about how old rollouts may be, for batches of so many prompts. */
export function stalenessPlan(config: Config, batch: number): StalenessPlan {
  const { require_batches: required } = config.async_training;
  const { ppo_mini_batch_size: mini } = config.actor_rollout_ref.actor;
  if (required !== null && required * mini !== batch) {
    throw new RangeError(
      `Cannot train: async_training.require_batches must be data.train_batch_size / ppo_mini_batch_size, ${batch / mini}, got ${required}`,
    );
  }
  return new StalenessPlan(optionsIn(stalenessTable, config), batch);
}

/** What the configuration says about scoring. */
export function scoreOptions({ lab }: Config): ScoreOptions {
  return { concurrency: lab.reward_concurrency, timeoutMs: lab.reward_timeout * 1000 };
}

/** What the configuration says about advantages. */
export function advantageOptions(config: Config): AdvantageOptions {
  const { algorithm } = config;
  return {
    ...creditOptions(config),
    estimator: chosen(estimatorsByName, algorithm.adv_estimator) as AdvantageOptions["estimator"],
    ...optionsIn(advantageTable, config),
  };
}

/** The correction for another sampler. What verl's keys do not ask for is done where it is needed. */
function correctionOptions({ algorithm, lab }: Config): RolloutCorrection {
  const { rollout_correction: keys } = algorithm;
  const asked = keys.rollout_is !== null || keys.rollout_rs !== null || keys.bypass_mode;
  if (!asked && lab.correct_sampler && lab.correct_like === "trl") {
    return { form: "trl", when: "auto", normalize: keys.rollout_is_batch_normalize };
  }
  return {
    ...(asked
      ? { weights: keys.rollout_is }
      : { when: "auto", weights: lab.correct_sampler ? "token" : null }),
    threshold: keys.rollout_is_threshold,
    normalize: keys.rollout_is_batch_normalize,
    reject: keys.rollout_rs,
    rejectThreshold: keys.rollout_rs_threshold,
    inverseK1: lab.inverse_k1,
    mode: keys.bypass_mode ? "bypass" : "decoupled",
    bypassLoss: keys.loss_type,
  };
}

/** Trajectories or tokens of one forward pass: `use_dynamic_bsz` says which of them counts. */
function passOptions(part: Config["critic"] | Config["actor_rollout_ref"]["actor"]) {
  const sequences = part.ppo_micro_batch_size_per_gpu ?? part.ppo_micro_batch_size;
  // The reference asks for a micro-batch size where passes are not dynamic; tokens do without one.
  return part.use_dynamic_bsz || sequences === null
    ? { maxTokensPerPass: part.ppo_max_token_len_per_gpu }
    : { maxTokensPerPass: Infinity, maxSequencesPerPass: sequences };
}

/** What the configuration says about the critic. Mini-batches count prompts there and trajectories here. */
export function criticOptions(config: Config): CriticOptions {
  const { critic, actor_rollout_ref: actor } = config;
  return {
    ...optionsIn(criticTable, config),
    miniBatchSize: critic.ppo_mini_batch_size * actor.rollout.n,
    ...passOptions(critic),
  };
}

/** Where a step stands in its run, for the learning rate. */
export interface ScheduleAt {
  /** 1 for the first. */
  step: number;
  /** Infinity where a budget ends the run. */
  totalSteps: number;
  /** What the run had spent of its budget before the step. */
  spent?: Place | undefined;
  /** How far a warm-up by tokens has come, from 0 to 1. */
  warm?: number | undefined;
}

/** The learning rate of a step by an optimiser's warm-up and schedule. */
export function learningRateAt(
  { optim }: Config["critic"] | Config["actor_rollout_ref"]["actor"],
  { step, totalSteps, spent, warm }: ScheduleAt,
): number {
  const { at, of } = spent ?? { at: step - 1, of: totalSteps };
  const bySteps = optim.lr_warmup_steps >= 0;
  const ratio = Math.floor(optim.lr_warmup_steps_ratio * of);
  // A warm-up that counts something else than the schedule is a factor beside it.
  const beside =
    warm ??
    (spent && bySteps ? Math.min(1, (step - 1) / Math.max(1, optim.lr_warmup_steps)) : undefined);
  const warmupSteps = beside !== undefined ? 0 : bySteps ? optim.lr_warmup_steps : ratio;
  const schedule = { style: optim.warmup_style, warmupSteps, totalSteps: of } as const;
  const shape = { minRatio: optim.min_lr_ratio ?? 0, cycles: optim.num_cycles };
  return optim.lr * (beside ?? 1) * learningRateFactor({ ...schedule, ...shape }, at);
}

/**
 * What the configuration says about the update. Mini-batches count prompts there and trajectories here.
 *
 * @param config a checked configuration
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { loadConfig, updateOptions } from "arpo-lab/run";
 *
 * const { config } = await loadConfig({
 *   overrides: ["actor_rollout_ref.actor.ppo_mini_batch_size=4", "actor_rollout_ref.rollout.n=8"],
 * });
 * assert.equal(updateOptions(config).miniBatchSize, 32); // prompts there, sequences here
 * ```
 */
export function updateOptions(config: Config): UpdateOptions {
  checkArguments(
    "read a configuration",
    { config },
    { config: { actor_rollout_ref: "object", lab: "object" } },
  );
  const { actor, rollout } = config.actor_rollout_ref;
  return {
    ...lossOptions(config),
    ...optionsIn(updateTable, config),
    miniBatchSize: actor.ppo_mini_batch_size * rollout.n,
    ...passOptions(actor),
    temperature: rollout.temperature === 0 ? 1 : rollout.temperature,
    rolloutCorrection: correctionOptions(config),
  };
}
