import type { Scored } from "../../../reward/scored.js";
import type { Rows } from "../../advantage/masked.js";
import { Credit, type CreditSpan } from "../credit.js";
import type { CreditOptions } from "../options.js";
import { type CreditBatch, creditBatch } from "./rows.js";
import { appoSpans, fr3eSpans, spoChainSpans } from "./branch-credit.js";
import { at2poSpans, spoTreeSpans, treeGrpoSpans, treePoSpans } from "./tree-credit.js";
import { treeRlSpans } from "./treerl-credit.js";
import { giGpoSpans, mtGrpoSpans, turnBaselineSpans } from "./turn-credit.js";

/** What all estimators of the family can be told. */
export type FamilyOptions = CreditOptions & { normalizeByDeviation?: boolean };

type SpansOf = (batch: CreditBatch, options: FamilyOptions) => readonly (readonly CreditSpan[])[];

/** The estimators of the family after ARPO, by name. */
export const familyEstimators = [
  "tree_grpo",
  "at2po",
  "treerl",
  "appo",
  "treepo",
  "spo_chain",
  "spo_tree",
  "fr3e",
  "mt_grpo",
  "gigpo",
  "turn_baseline",
] as const;
export type FamilyEstimator = (typeof familyEstimators)[number];

const methods: Record<FamilyEstimator, SpansOf> = {
  tree_grpo: (batch, { treeGrpo }) => treeGrpoSpans(batch, treeGrpo),
  at2po: (batch, { at2po }) => at2poSpans(batch, at2po),
  treerl: (batch, { treerl }) => treeRlSpans(batch, treerl),
  appo: (batch, { appo }) => appoSpans(batch, appo),
  treepo: (batch, { treepo }) => treePoSpans(batch, treepo),
  spo_chain: (batch, { spoChain }) => spoChainSpans(batch, spoChain),
  spo_tree: (batch, { spoTree }) => spoTreeSpans(batch, spoTree),
  fr3e: (batch, { fr3e }) => fr3eSpans(batch, fr3e),
  mt_grpo: (batch, { mtGrpo }) => mtGrpoSpans(batch, mtGrpo),
  gigpo: (batch, { gigpo }) => giGpoSpans(batch, gigpo),
  turn_baseline: (batch, { turnBaseline }) => turnBaselineSpans(batch, turnBaseline),
};

/** Whether an estimator is one of the family, and so can say what made an advantage. */
export const isFamilyEstimator = (name: string): name is FamilyEstimator =>
  Object.hasOwn(methods, name);

/** The credit that one of the family's rules gives to scored trajectories. */
export function familyCredit(
  scored: Scored,
  rewards: Rows,
  estimator: FamilyEstimator,
  options: FamilyOptions = {},
): Credit {
  const batch = creditBatch(scored, rewards);
  return new Credit(methods[estimator](batch, options), batch.mask);
}
