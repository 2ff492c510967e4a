import { type AdvantageOptions, type Estimator, creditEstimators } from "../../learn/advantages.js";

/** A credit rule to show: an estimator, or one with its options under a name of its own. */
export type CreditRule = Estimator | (AdvantageOptions & { name: string });

const meanings: Partial<Record<Estimator, string>> = {
  grpo: "the row against the prompt's rows",
  rloo: "the row against the others",
  tree_grpo: "against the prompt's rows, plus against its tree's",
  at2po: "what the turn's rows are worth, weighed by entropy",
  treerl: "against its parent and the prompt, over √rows",
  appo: "initial rows, plus what later branches of the row got",
  treepo: "the row against the groups it shares a beginning with",
  spo_chain: "worth at the end less at the start, initial rows",
  spo_tree: "worth of the segment less its parent's",
  fr3e: "among its state's rows, by what the state gained",
  mt_grpo: "the outcome; before the first answer the turn too",
  gigpo: "the episode, plus the step among those from there",
  turn_baseline: "reward from the turn on, against the prompt's rows",
};

/** What is shown where nobody chooses: every estimator, and TreeRL by its paper too. */
export const usualRules: readonly CreditRule[] = creditEstimators.flatMap((name): CreditRule[] =>
  name === "treerl"
    ? [name, { name: "treerl, paper", estimator: "treerl", treerl: { rule: "paper" } }]
    : [name],
);

/** A rule's name, its meaning, and the options that make it. */
export function ruleOf(rule: CreditRule): {
  name: string;
  meaning: string;
  options: AdvantageOptions;
} {
  const { name, ...options } = typeof rule === "string" ? { name: rule, estimator: rule } : rule;
  return { name, meaning: meanings[options.estimator ?? "grpo"] ?? "", options };
}
