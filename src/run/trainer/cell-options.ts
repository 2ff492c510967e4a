import {
  integer,
  listOf,
  type OptionRules,
  optionsOf,
  required,
  rulesWithout,
} from "../../../common/options/check-options.js";
import { defined } from "../../../common/options/defined.js";
import {
  type Given,
  keysOf,
  type OptionTable,
  rulesOf,
} from "../../../common/options/option-table.js";
import type { Named, Registry } from "../../../common/options/registry.js";
import type { AdvantageOptions } from "../../learn/advantages.js";
import { advantageTable } from "../../learn/advantage-settings.js";
import {
  type CreditOptions,
  creditRulesWith,
  estimatorsByName,
} from "../../learn/estimators/registry.js";
import type { ActorLossOptions } from "../../learn/losses/loss-rules.js";
import { lossRegistry } from "../../learn/losses/registry.js";
import type { distillationTable } from "../../learn/distillation/options.js";
import { presetRule, updateRules, updateTable } from "../../learn/update/update-settings.js";
import type { EnvironmentSource } from "../../environments/environment.js";
import type { Policy } from "../../policy/policies.js";
import type { Reward } from "../../reward/reward-function.js";
import type { TokenRanking } from "../../rollout/branch/family/signals.js";
import { checkExpand } from "../../rollout/config.js";
import { type RolloutOptions, rolloutRules } from "../../rollout/options.js";
import { type PresetName, rolloutPresets } from "../../rollout/presets.js";
import type { Trajectories } from "../../rollout/rules/definition.js";
import { rules, writtenRule } from "../../rollout/rules/registry.js";
import { completeSettings } from "../../rollout/rules/settings.js";
import { rolloutSettings } from "../../rollout/settings.js";
import type { Tools } from "../../tools/tool-set.js";
import { stalenessLimits } from "../staleness/limits/registry.js";
import { lossTable } from "../config/loss-keys.js";
import { keysOfOptions } from "../config/option-keys.js";
import { stalenessTable } from "../staleness/options.js";
import { budgetTable, runTable, warmupTable } from "../config/run-table.js";
import { merge, type Tree } from "../config/tree.js";
import type { Told } from "./options.js";
import type { TrainerStep } from "./trainer.js";
import type { TrainingRun } from "./training-run.js";

/** Options of a rollout that a run decides: a cell has other words for some, and defaults of its own. */
type RunDecides = "n" | "initialRollouts" | "callLimit" | "responseLength" | "mode" | "seed";

/**
 * What a run in a cell can be told: all that `rollout`, `advantages` and `update` take, under the names that they give
 * it, but for what belongs to one of their calls; and what only a run has.
 */
export interface CellTraining
  extends
    Given<typeof runTable>,
    Given<typeof stalenessTable>,
    Omit<Given<typeof rolloutSettings>, RunDecides>,
    Omit<Given<typeof updateTable>, "learningRate" | "preset" | "random" | "shuffle">,
    Given<typeof distillationTable>,
    Pick<AdvantageOptions, "estimator" | keyof typeof advantageTable>,
    CreditOptions,
    ActorLossOptions,
    Pick<RolloutOptions, "rule" | "expand" | "promptsAtOnce" | "refillsAhead"> {
  /** The algorithm; options given beside it override it. Default: `arpo`. */
  preset?: PresetName;
  /**
   * Train until the rollouts have cost so much, in place of `steps`; the step that reaches it is
   * the last. Default: none, `steps` decides.
   */
  budget?: Given<typeof budgetTable>;
  /** Raise the learning rate over so many tokens. Default: as the `tiny` preset, over a tenth of the run. */
  warmup?: { tokens: number };
  /** Also measure the held-out tasks behind the steps that reach these. Default: none. */
  testAt?: { tokens?: readonly number[]; calls?: readonly number[] };
  /** Trajectories per prompt. Default: the preset's, 16 for `arpo`, `aepo` and `grpo`. */
  n?: number;
  /**
   * Trajectories each prompt starts with. Default: half of them where `n` is given and trees branch, else the
   * preset's.
   */
  initialRollouts?: number;
  /**
   * The same for all steps. Default: the `tiny` preset's, which rises to 3e-4 and falls; for a model of more
   * than 50 million weights 1e-5, because 3e-4 makes it forget what it could.
   */
  learningRate?: number;
  /**
   * Branch at the tokens to which this function gives the greatest numbers, under a rule that ranks
   * tokens: `rule: "arpo-paper"`, for example. Default: the rule's own.
   */
  ranking?: TokenRanking;
  /**
   * Any other key of a configuration: `key=value`, as on the command line (docs/config.md). They
   * come last. Default: none.
   */
  overrides?: readonly string[];
  /** Default: Python and the invented world's search; in an environment none besides its own. */
  tools?: Tools;
  /** The world that trajectories act in. Default: the family's own, where it has one. */
  environment?: EnvironmentSource;
  /** Calls of one trajectory. Default: 3, in an environment 16. */
  callLimit?: number;
  /** Default: ARPO's, in an environment its own. */
  reward?: Reward;
  /**
   * What rolls out, where that is not `policy`: an endpoint, a copy. The update corrects for it.
   * Default: `policy`.
   */
  sampler?: Policy;
  /** Measure the held-out tasks every so many steps, and before the first. Default: never. */
  testEvery?: number;
  /** Show the run on its board while it continues, where a notebook looks. Default: true. */
  live?: boolean;
  /**
   * Print nothing. Default: false, a line per step and what the run found in a program, and a line for each tool that
   * failed, was waited for, or was never called.
   */
  quiet?: boolean;
  /** Called after each step. Default: none. */
  onStep?: (step: TrainerStep, run: TrainingRun) => void | Promise<void>;
  /** Stops the run with an error. Default: none. */
  signal?: AbortSignal;
}

/** What every option may be. Losses and estimators that were added have options too: they are asked for each time. */
export const cellRules = (options: CellTraining | undefined): OptionRules<CellTraining> => ({
  ...rulesWithout(rulesOf(rolloutSettings), "mode"),
  ...rulesWithout(updateRules(options), "random", "shuffle"),
  ...rulesOf(advantageTable),
  ...creditRulesWith(options?.estimator),
  ...rulesOf(runTable),
  ...rulesOf(stalenessTable),
  ...{ rule: rules.rule, estimator: estimatorsByName.rule },
  expand: rolloutRules.expand,
  promptsAtOnce: rolloutRules.promptsAtOnce,
  refillsAhead: rolloutRules.refillsAhead,
  preset: presetRule,
  budget: optionsOf<Given<typeof budgetTable>>(rulesOf(budgetTable)),
  warmup: optionsOf<{ tokens: number }>({ tokens: required(warmupTable.tokens.rule) }),
  testAt: optionsOf<Required<CellTraining>["testAt"]>({
    tokens: listOf(integer(1), "integers of at least 1"),
    calls: listOf(integer(1), "integers of at least 1"),
  }),
  ranking: "function?",
  overrides: listOf("text", "texts"),
  tools: rolloutRules.tools,
  environment: "function?",
  reward: "reward?",
  sampler: "policy?",
  testEvery: integer(1),
  live: "boolean?",
  quiet: "boolean?",
  onStep: "function?",
  signal: "signal?",
});

/** The name of a choice; a definition of a person's own is known by one from here on. */
const named = <D extends Named>(registry: Registry<D>, given: string | D | undefined) =>
  typeof given === "object" ? registry.nameOf(given) : given;

/** The rule of a run: what is said beside a preset comes first. */
const ruleOf = ({ rule, preset = "arpo" }: CellTraining) =>
  rule ?? (rolloutPresets[preset] as RolloutOptions).rule;

/** Throws where a rule's settings are none. */
export const checkCell = (options: CellTraining): void =>
  checkExpand("train", { rule: ruleOf(options), expand: options.expand });

/** Trajectories that the settings of a rule fix, where a cell says a rule or settings. */
function fixedBy(options: CellTraining): Trajectories {
  const rule = writtenRule(ruleOf(options));
  if (options.rule === undefined && options.expand === undefined) return {};
  return rule?.trajectories?.(completeSettings("train", rule, options.expand)) ?? {};
}

/** Options of a cell that trains on so many tasks, as the configuration says them. */
export function cellKeys(options: CellTraining, tasks = Infinity): Tree {
  const { testAt, preset = "arpo", prompts = Math.min(8, tasks) } = options;
  const fixed = fixedBy(options);
  const { n = fixed.n } = options;
  // A function ranks tokens as it is; a configuration names what does.
  const { signal, ...expand } = options.expand ?? {};
  // Trees start with half of their trajectories; where nothing branches, all start at once.
  const first =
    n === undefined || (preset === "grpo" && options.rule === undefined) ? n : Math.ceil(n / 2);
  const keys = keysOfOptions({
    ...options,
    ...{ prompts, n },
    steps: options.steps ?? 10,
    miniBatch: options.miniBatch ?? (prompts % 2 === 0 ? 2 : 1),
    seed: options.seed ?? 1,
    initialRollouts: options.initialRollouts ?? fixed.initialRollouts ?? first,
    rule: named(rules, options.rule),
    estimator: named(estimatorsByName, options.estimator),
    loss: named(lossRegistry, options.loss),
    stalenessLimit: named(stalenessLimits, options.stalenessLimit),
    expand: typeof signal === "string" ? { ...expand, signal } : expand,
    calls: undefined, // it may be a definition, and is told
  });
  const { tokens: test_at_tokens, calls: test_at_calls } = testAt ?? {};
  return merge(keys, { lab: { budget: defined({ test_at_tokens, test_at_calls }) } });
}

/** Options that a table has without a key. */
function keyless(table: OptionTable, options: object): object {
  const keyed = keysOf(table).map(([name]) => name);
  return Object.fromEntries(
    Object.entries(options).filter(
      ([name, value]) => value !== undefined && Object.hasOwn(table, name) && !keyed.includes(name),
    ),
  );
}

/** Options of a cell that a configuration cannot say, once `cellKeys` has made its definitions known. */
export function cellTold(options: CellTraining): Told {
  const { dynamicRollouts, expand, ...given } = options;
  // A run has its own words for these.
  const rest = { ...given, seed: undefined, reference: undefined };
  const signal = typeof expand?.signal === "function" ? { signal: expand.signal } : undefined;
  const dynamic = typeof dynamicRollouts === "object" ? dynamicRollouts : undefined;
  const { promptsAtOnce, refillsAhead } = options;
  const credit = Object.keys(creditRulesWith(options.estimator));
  return {
    rollout: {
      ...keyless(rolloutSettings, rest),
      ...defined({ promptsAtOnce, refillsAhead, expand: signal, dynamicRollouts: dynamic }),
    },
    advantages: {
      ...keyless(advantageTable, rest),
      ...Object.fromEntries(Object.entries(rest).filter(([name]) => credit.includes(name))),
    },
    update: keyless({ ...updateTable, ...lossTable() }, rest),
  };
}
