import { checkArguments } from "../../common/options/check-arguments.js";
import {
  checkOptions,
  type OptionRule,
  type OptionRules,
} from "../../common/options/check-options.js";
import { type Given, rulesOf } from "../../common/options/option-table.js";
import type { PresetName } from "../rollout/presets.js";
import { checkScored, type Scored, type ScoredTrajectory } from "../reward/scored.js";
import { advantageTable } from "./advantage-settings.js";
import { hardAttribution } from "./estimators/base/attribution.js";
import type { Advantages } from "./estimators/base/estimator.js";
import type { Rows } from "./masked.js";
import {
  type BatchSequence,
  type PreparedSequence,
  sequencesOf,
  type ScoredSequence,
  trainedMask,
  TrainingBatch,
} from "./batch.js";
import type { Credit } from "./estimators/credit.js";
import {
  clearMasked,
  type Distributions,
  needWords,
  type PlainEstimator,
} from "./estimators/definition.js";
import {
  type AnyEstimator,
  type CreditOptions,
  creditRulesWith,
  estimatorsByName,
  familyCredit,
  familyEstimators,
  type FamilyEstimator,
  namesOf,
  namesWithCredit,
  plainEstimators,
  plainNames,
} from "./estimators/registry.js";
import { presetRule, withPreset } from "./update/update-settings.js";

/**
 * The advantage estimators as functions of numbers, under the names that `advantages` takes. Rewards and
 * masks have one row of tokens per sequence; sequences with the same group are compared with each other. The estimators of the
 * tree methods are in `arpo-lab/experimental/family`.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { estimators } from "arpo-lab/learn";
 *
 * const input = { rewards: [[0, 1], [0, 0]], mask: [[1, 1], [1, 1]], groups: ["a", "a"] };
 * const { advantages } = estimators.grpo(input, { normalizeByDeviation: false });
 * assert.deepEqual(advantages.map((sequence) => [...sequence]), [[0.5, 0.5], [-0.5, -0.5]]);
 * ```
 */
export const estimators = Object.fromEntries(
  plainEstimators.map((definition: PlainEstimator<string, (...given: never[]) => Advantages>) => [
    definition.name,
    (input: never, options: never) =>
      definition.advantages(clearMasked(definition, input), options),
  ]),
) as unknown as { readonly [D in (typeof plainEstimators)[number] as D["name"]]: D["advantages"] };

/** The names of the advantage estimators, as the reference has them. */
export const estimatorNames = [...plainNames, ...familyEstimators] as const;
export type Estimator = (typeof estimatorNames)[number];

export interface AdvantageOptions extends CreditOptions, Given<typeof advantageTable> {
  /** An algorithm, whose estimator is used unless `estimator` names another. Default: none. */
  preset?: PresetName;
  /**
   * How scores become advantages, by name (docs/algorithms.md) or a definition of your own. Default: the
   * preset's, else `grpo`.
   */
  estimator?: Estimator | AnyEstimator;
  /** The critic's values per sequence, for gae. Default: those of `rows`. */
  values?: Rows;
  /** The sequences of the scored trajectories with what `Learner.prepare` measured. Default: those of the scored trajectories. */
  rows?: readonly (ScoredSequence | PreparedSequence)[];
  /** The greedy answer's reward per trajectory, for remax. Default: none; remax needs it. */
  baselines?: readonly number[];
  /**
   * Rewards per token in place of the score on the last token, after a KL penalty for instance.
   * Default: the score alone.
   */
  tokenRewards?: Rows;
}

/** What every option of `advantages` and `creditOf` may be. */
export const advantageRules = (given: AdvantageOptions): OptionRules<AdvantageOptions> => ({
  ...creditRulesWith(given?.estimator),
  preset: presetRule,
  estimator: estimatorsByName.rule,
  ...rulesOf(advantageTable),
  values: "list?",
  rows: "list?",
  baselines: "list?",
  tokenRewards: "list?",
});

/**
 * The score stands on the last token that the policy wrote: on a result behind it, it would count for
 * nothing where rewards count by token. Where the policy wrote none, it stands on the last attended token.
 */
export function placeReward(scored: ScoredTrajectory): Float64Array {
  const { trajectory, score } = scored;
  const rewards = new Float64Array(trajectory.tokens.length);
  const written = trajectory.lossMask.lastIndexOf(1);
  const last = written >= 0 ? written : trajectory.attention.lastIndexOf(1);
  if (last >= 0) rewards[last] = score.score;
  return rewards;
}

/** The critic's values, where each trajectory has them. */
function valuesOf(sequences: AdvantageOptions["rows"] = []): Rows | undefined {
  const values = sequences.flatMap((sequence) =>
    "values" in sequence && sequence.values ? [sequence.values] : [],
  );
  return values.length === sequences.length && values.length > 0 ? values : undefined;
}

/** The distributions that tokens were drawn from, where each trajectory has them. */
function distributionsOf(sequences: AdvantageOptions["rows"] = []): Distributions | undefined {
  const known = sequences.flatMap((sequence) =>
    "squares" in sequence && sequence.squares ? [{ ...sequence, squares: sequence.squares }] : [],
  );
  if (known.length < sequences.length || known.length === 0) return undefined;
  const weights = known.flatMap(({ rolloutWeights }) => (rolloutWeights ? [rolloutWeights] : []));
  return {
    logprobs: known.map(({ oldLogprobs }) => oldLogprobs),
    squares: known.map(({ squares }) => squares),
    ...(weights.length === known.length ? { weights } : {}),
  };
}

function estimate(scored: Scored, options: AdvantageOptions, definition: AnyEstimator): Advantages {
  const { gamma = 1, lambda = 1, normalizeByDeviation = true, baselines } = options;
  const rewards = options.tokenRewards ?? scored.trajectories.map(placeReward);
  if ("spans" in definition) {
    const given = familyCredit(scored, rewards, definition, options).advantages;
    return { advantages: given, returns: given };
  }
  const { rows: sequences = scored.trajectories } = options;
  const mask = sequences.map(trainedMask);
  const groups = scored.trajectories.map(({ group }) => group);
  const values = options.values ?? valuesOf(options.rows);
  const distributions = distributionsOf(options.rows);
  const { name, needs } = definition;
  if (needs && !{ values, baselines, distributions }[needs]) {
    throw new TypeError(`Cannot use ${name}: ${needWords[needs]} must be given, got none`);
  }
  const given = { rewards, mask, groups, values, baselines, distributions };
  const input = clearMasked(definition, given, namesOf(scored));
  return definition.estimate(input, { gamma, lambda, normalizeByDeviation });
}

/** A sequence without what an update with a teacher made of other advantages. */
function withoutTeacher<S extends object>(sequence: S): S {
  const own: S & { taughtAdvantages?: unknown } = { ...sequence };
  delete own.taughtAdvantages;
  return own;
}

/**
 * Spreads scores over tokens: the batch an update is made from.
 *
 * @param scored the scored trajectories, from `score`
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { advantages } from "arpo-lab/learn";
 * import { score } from "arpo-lab/learn";
 * import { rollout } from "arpo-lab/rollout";
 * import { ScriptedPolicy } from "arpo-lab/experimental/testing";
 *
 * const policy = new ScriptedPolicy(({ sequence }) => ({ text: `\\boxed{${sequence}}\u0001` }));
 * const trees = await rollout(policy, [{ prompt: "1 or 2?", groundTruth: "1" }], { n: 2 });
 * const scored = await score(trees, (t) => Number(t.response.includes("1")));
 * const batch = advantages(scored, { estimator: "grpo" });
 * assert.ok(batch.trajectories[0].advantages[0] > 0 && batch.trajectories[1].advantages[0] < 0);
 * ```
 */
export function advantages(scored: Scored, given: AdvantageOptions = {}): TrainingBatch {
  checkScored("estimate advantages", scored);
  checkOptions("estimate advantages", given, advantageRules(given));
  const options = withPreset("estimate advantages", given);
  const definition = estimatorsByName.of(
    "estimate advantages",
    "estimator",
    options.estimator ?? "grpo",
  );
  if (scored.trajectories.length === 0) {
    throw new RangeError("Cannot estimate advantages: there must be a trajectory, got none");
  }
  const { rows: from = sequencesOf(scored) } = options;
  if (from.length !== scored.trajectories.length) {
    throw new RangeError(
      `Cannot estimate advantages: there must be a trajectory for each of the ${scored.trajectories.length} trajectories, got ${from.length}`,
    );
  }
  const { advantages: soft, returns } = estimate(scored, options, definition);
  const final = options.attribution === "hard" ? hardAttribution(scored, soft) : soft;
  const sequences = from.map((sequence, i): BatchSequence => ({
    ...withoutTeacher(sequence),
    // `from` would walk them by an iterator: ten times slower.
    advantages: new Float32Array(final[i]!),
    returns: new Float32Array(returns[i]!),
  }));
  return new TrainingBatch(sequences, definition.name, scored);
}

/**
 * The estimators that can say what made an advantage.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { creditEstimators } from "arpo-lab/experimental/family";
 *
 * assert.ok(creditEstimators.includes("grpo") && creditEstimators.includes("rloo"));
 * ```
 */
export const creditEstimators = namesWithCredit() as readonly ("grpo" | "rloo" | FamilyEstimator)[];

/** The same, where an option names or is one of them. */
const withCredit: OptionRule = {
  get must() {
    return `one of ${namesWithCredit().join(", ")}`;
  },
  get names() {
    return namesWithCredit();
  },
  holds: (v) => typeof v === "object" || namesWithCredit().includes(v as string),
};

/**
 * The advantages of scored trajectories, and the sum behind each: what `advantages` gives, with the terms
 * by name. A token's advantage is the sum of its terms, times every factor.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { creditOf } from "arpo-lab/experimental/family";
 * import { score } from "arpo-lab/learn";
 * import { rollout } from "arpo-lab/rollout";
 * import { randomTextPolicy } from "arpo-lab/experimental/testing";
 *
 * const tree = await rollout(randomTextPolicy(), { prompt: "6*7?" }, { n: 4, initialRollouts: 2, seed: 1 });
 * const credit = creditOf(await score(tree, ({ length }) => length % 2), { estimator: "rloo" });
 * const { terms, factors } = credit.explain(0, 0)!;
 * assert.deepEqual(terms.map(({ name }) => name), ["reward", "mean of the prompt's trajectories"]);
 * const sum = terms.reduce((all, { value }) => all + value, 0);
 * assert.equal(factors.reduce((all, { value }) => all * value, sum), credit.advantages[0][0]);
 * ```
 */
export function creditOf(scored: Scored, given: AdvantageOptions = {}): Credit {
  checkScored("give credit", scored);
  checkArguments("give credit", { scored }, { scored: { trees: "list" } });
  checkOptions("give credit", given, { ...advantageRules(given), estimator: withCredit });
  const options = withPreset("give credit", given);
  const { estimator = "grpo", gamma = 1, lambda = 1, normalizeByDeviation = true } = options;
  const rewards = options.tokenRewards ?? scored.trajectories.map(placeReward);
  const definition = estimatorsByName.of("give credit", "estimator", estimator);
  if ("spans" in definition) return familyCredit(scored, rewards, definition, options);
  const mask = scored.trajectories.map(({ trajectory }) => trajectory.lossMask);
  const groups = scored.trajectories.map(({ group }) => group);
  const outcome = clearMasked(definition, { rewards, mask, groups }, namesOf(scored));
  const credit = definition.credit?.(outcome, { gamma, lambda, normalizeByDeviation });
  if (credit) return credit;
  throw new TypeError(`Cannot give credit: estimator ${definition.name} must say it, got none`);
}
