import type { ScoredTrajectory } from "../../reward/scored.js";
import type { AppoOptions } from "./appo.js";
import type { At2poOptions } from "./at2po.js";
import type { Fr3eOptions } from "./fr3e.js";
import type { GiGpoOptions } from "./gigpo.js";
import type { MtGrpoOptions } from "./mt-grpo.js";
import type { SpoTreeOptions } from "./spo-tree.js";
import type { treeGrpoForms, TreeGrpoOptions } from "./tree-grpo.js";
import type { TreePoOptions } from "./treepo.js";
import type { TreeRlOptions } from "./treerl.js";
import type { TurnBaselineOptions } from "./turn-baseline.js";

/** What each method of the family can be told, by its estimator's name. */
export interface CreditOptions {
  /** `tree_diff` puts rewards on steps instead. */
  treeGrpo?: Omit<TreeGrpoOptions, "form"> & {
    form?: (typeof treeGrpoForms)[number] | "tree_diff";
    /** `tree_diff`: what a step must gain on its parent. Default: 0.1. */
    margin?: number;
  };
  at2po?: At2poOptions & {
    /** What a turn's entropy is: the mean surprisal of what was drawn (the code), or the entropy there. */
    signal?: "surprisal" | "entropy";
  };
  treerl?: Omit<TreeRlOptions, "trained"> & {
    /** Rows of each prompt that are trained on, drawn at random; one right one is among them. Default: all. */
    leaves?: number;
    /** This share of them right, and as many wrong, first. */
    balance?: number;
    /** For that draw. */
    seed?: number;
    /** Rows that were cut get -1 on every token. Default: true, as published. */
    punishCut?: boolean;
  };
  appo?: AppoOptions;
  treepo?: TreePoOptions;
  spoChain?: { threshold?: number };
  spoTree?: SpoTreeOptions;
  fr3e?: Omit<Fr3eOptions, "referenceNaN"> & {
    /** States whose rows all got the same are left out first. Default: true, as published. */
    dropSettled?: boolean;
  };
  mtGrpo?: MtGrpoOptions;
  gigpo?: GiGpoOptions & {
    /** What the policy saw before a turn. Default: the tool's answer it begins with. */
    observe?: (row: ScoredTrajectory, turn: number) => unknown;
  };
  turnBaseline?: Pick<TurnBaselineOptions, "baseline"> & {
    /** The outcome counts as the last turn's. Default: true. */
    outcome?: boolean;
  };
}
