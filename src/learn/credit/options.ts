import {
  finite,
  integer,
  oneOf,
  type OptionRule,
  type OptionRules,
  optionsOf,
  share,
} from "../../../arguments/check-options.js";
import type { ScoredTrajectory } from "../../reward/scored.js";
import { appoRules, type AppoOptions } from "./appo.js";
import { type At2poOptions, at2poRules } from "./at2po.js";
import { type Fr3eOptions, fr3eRules } from "./fr3e.js";
import { type GiGpoOptions, giGpoRules } from "./gigpo.js";
import { type MtGrpoOptions, mtGrpoRules } from "./mt-grpo.js";
import { type SpoChainOptions, spoChainRules, type SpoTreeOptions, spoTreeRules } from "./spo.js";
import { treeGrpoForms, type TreeGrpoOptions, treeGrpoRules } from "./tree-grpo.js";
import { type TreePoOptions, treePoRules } from "./treepo.js";
import { type TreeRlOptions, treeRlRules } from "./treerl.js";
import { type TurnBaselineOptions, turnBaselineRules } from "./turn-baseline.js";

/** What each method of the family can be told, by its estimator's name. */
export interface CreditOptions {
  /**
   * For `estimator: "tree_grpo"`; `form: "tree_diff"` puts rewards on steps instead. Default: as
   * published.
   */
  treeGrpo?: Omit<TreeGrpoOptions, "form"> & {
    form?: (typeof treeGrpoForms)[number] | "tree_diff";
    /** `tree_diff`: what a step must gain on its parent. Default: 0.1. */
    margin?: number;
  };
  /** For `estimator: "at2po"`. Default: as published. */
  at2po?: At2poOptions & {
    /** What a turn's entropy is: the mean surprisal of what was drawn (the code), or the entropy there. */
    signal?: "surprisal" | "entropy";
  };
  /** For `estimator: "treerl"`. Default: as published. */
  treerl?: Omit<TreeRlOptions, "trained"> & {
    /**
     * Trajectories of each prompt that are trained on, drawn at random; one right one is among them.
     * Default: all.
     */
    leaves?: number;
    /** This share of them right, and as many wrong, first. */
    balance?: number;
    /** For that draw. */
    seed?: number;
    /** Trajectories that were cut get -1 on every token. Default: true, as published. */
    punishCut?: boolean;
  };
  /** For `estimator: "appo"`. Default: as published. */
  appo?: AppoOptions;
  /** For `estimator: "treepo"`. Default: as published. */
  treepo?: TreePoOptions;
  /** For `estimator: "spo_chain"`. Default: as published. */
  spoChain?: SpoChainOptions;
  /** For `estimator: "spo_tree"`. Default: as published. */
  spoTree?: SpoTreeOptions;
  /** For `estimator: "fr3e"`. Default: as published. */
  fr3e?: Omit<Fr3eOptions, "referenceNaN"> & {
    /** States whose trajectories all got the same are left out first. Default: true, as published. */
    dropSettled?: boolean;
  };
  /** For `estimator: "mt_grpo"`. Default: as published. */
  mtGrpo?: MtGrpoOptions;
  /** For `estimator: "gigpo"`. Default: as published. */
  gigpo?: GiGpoOptions & {
    /** What the policy saw before a turn. Default: the tool's answer it begins with. */
    observe?: (trajectory: ScoredTrajectory, turn: number) => unknown;
  };
  /** For `estimator: "turn_baseline"`. Default: as published. */
  turnBaseline?: Pick<TurnBaselineOptions, "baseline"> & {
    /** The outcome counts as the last turn's. Default: true. */
    outcome?: boolean;
  };
}

/** The rules but one, which the method is not told by options. */
const without = <T extends object, K extends keyof T & string>(rules: T, name: K): Omit<T, K> =>
  Object.fromEntries(Object.entries(rules).filter(([key]) => key !== name)) as Omit<T, K>;

const fields = <K extends keyof CreditOptions>(
  _name: K,
  rules: OptionRules<NonNullable<CreditOptions[K]>>,
): OptionRule => optionsOf<NonNullable<CreditOptions[K]>>(rules);

/** What every option of the family's methods may be. */
export const creditRules: OptionRules<CreditOptions> = {
  treeGrpo: fields("treeGrpo", {
    ...treeGrpoRules,
    form: oneOf([...treeGrpoForms, "tree_diff"]),
    margin: finite,
  }),
  at2po: fields("at2po", { ...at2poRules, signal: oneOf(["surprisal", "entropy"]) }),
  treerl: fields("treerl", {
    ...without(treeRlRules, "trained"),
    leaves: integer(1),
    balance: share,
    seed: integer(0),
    punishCut: "boolean?",
  }),
  appo: fields("appo", appoRules),
  treepo: fields("treepo", treePoRules),
  spoChain: fields("spoChain", spoChainRules),
  spoTree: fields("spoTree", spoTreeRules),
  fr3e: fields("fr3e", { ...without(fr3eRules, "referenceNaN"), dropSettled: "boolean?" }),
  mtGrpo: fields("mtGrpo", mtGrpoRules),
  gigpo: fields("gigpo", { ...giGpoRules, observe: "function?" }),
  turnBaseline: fields("turnBaseline", {
    baseline: turnBaselineRules.baseline,
    outcome: "boolean?",
  }),
};
