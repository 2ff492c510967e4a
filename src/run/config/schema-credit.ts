import { z } from "#zod";
import { at2poAdvantages, at2poValues } from "../../learn/credit/at2po.js";
import { treeGrpoForms } from "../../learn/credit/tree-grpo.js";
import { treePoForms } from "../../learn/credit/treepo.js";
import { treeRlBonuses, treeRlCentres, treeRlWeights } from "../../learn/credit/treerl.js";
import { turnBaselines } from "../../learn/credit/turn-baseline.js";
import { flag, number, oneOf, optionalCount, section, share, weight } from "./kinds.js";

const deviation = (by: boolean) => flag(by).describe("Divide by the group's deviation");

/** What each tree and turn estimator can be told, by its name. */
export const credit = section({
  tree_grpo: section({
    form: oneOf([...treeGrpoForms, "tree_diff"], "tree").describe("Which of its estimators"),
    lone_row: oneOf(["zero", "reward"], "zero").describe("What a tree of one row adds"),
    margin: weight(0.1).describe("tree_diff: what a step must gain on its parent"),
  }),
  at2po: section({
    normalize_leaves: flag(true).describe("Normalise the scores within the tree first"),
    value: oneOf(at2poValues, "child_softmax").describe("What an inner turn is worth"),
    advantage: oneOf(at2poAdvantages, "node_value").describe("What a turn gets of that"),
    signal: oneOf(["surprisal", "entropy"], "surprisal").describe("What child_softmax weighs by"),
  }),
  treerl: section({
    rule: oneOf(["code", "paper"], "code").describe("The published code's sums or the paper's"),
    weights: oneOf(treeRlWeights, "sqrt").describe("What a segment's sum is divided by"),
    centre: oneOf(treeRlCentres, "none").describe("What mean is taken off all sums"),
    bonus: oneOf(treeRlBonuses, "state").describe("What is added to the difference to the parent"),
    fill: flag(true).describe("A segment of value 0 gets its predecessor's"),
    average_children: flag(false).describe("Inner sums are means over the children"),
    penalize_cut: flag(false).describe("Rows that were cut count -1 among the leaves"),
    all_ancestors: flag(false).describe("Differences to all segments above, and nothing else"),
    leaves: optionalCount.describe("Rows of a prompt that are trained on; null: all"),
    balance: share(0).describe("The share of them that is right, and as many wrong"),
    punish_cut: flag(true).describe("Rows that were cut get -1 on every token"),
  }),
  appo: section({
    normalize_by_deviation: deviation(true),
    reward_scale_discount: share(0.9).describe(
      "Its reward scale, without effect on outcome rewards; 0: off",
    ),
  }),
  treepo: section({
    form: oneOf(treePoForms, "tree").describe("Which of its estimators"),
    weights: oneOf(["average", "size"], "average").describe("How depths are averaged"),
    skip_equal: flag(false).describe("Leave out groups below the prompt with equal rewards"),
    parent_decay: number(-1).describe("segment: what the parent counts; 0 or less: all"),
  }),
  spo_chain: section({
    threshold: share(0.9).describe("Tokens drawn with a greater probability get nothing"),
  }),
  spo_tree: section({
    form: oneOf(["rloo", "grpo"], "rloo").describe("grpo divides by the siblings' deviation"),
    only_nonzero: flag(true).describe("Segments that say nothing get nothing"),
  }),
  fr3e: section({
    value: oneOf(["positive-share", "mean-reward"], "positive-share").describe(
      "What a state is worth: by the code, by the paper",
    ),
    sharpen: flag(true).describe("Differences to the power of 1.5, over their sum"),
    normalize_by_deviation: deviation(false),
    drop_settled: flag(true).describe("Leave out states whose rows all got the same"),
  }),
  mt_grpo: section({
    turn_coefficient: number(1).describe("What the turn's advantage counts"),
  }),
  gigpo: section({
    gamma: share(1).describe("Discount of the steps' rewards"),
    step_weight: weight(1).describe("What the step's advantage counts"),
    normalize_by_deviation: deviation(false),
    episode_baseline: oneOf(["step", "trajectory"], "step").describe(
      "step: long trajectories count once for each of their steps",
    ),
    similarity: z
      .number()
      .gt(0)
      .max(1)
      .nullable()
      .default(null)
      .describe("Observations at least this alike are one; null: equal ones"),
  }),
  turn_baseline: section({
    baseline: oneOf(turnBaselines, "padded").describe("turn-index is biased"),
    outcome: flag(true).describe("The outcome counts as the last turn's"),
  }),
});
