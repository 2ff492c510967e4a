import type { RolloutRule } from "../../rollout/options.js";

const names: Record<RolloutRule, string> = {
  "arpo-code": "ARPO (code)",
  "arpo-paper": "ARPO (paper)",
  "seed-docs": "ARPO (docs)",
  "aepo-code": "AEPO (code)",
  "aepo-paper": "AEPO (paper)",
  "tree-grpo": "Tree-GRPO",
  at2po: "AT2PO",
  treerl: "TreeRL",
  appo: "APPO",
  "appo-rollout": "APPO (rollout)",
  fr3e: "FR3E",
  treepo: "TreePO",
  "spo-tree": "SPO-tree",
};

/** What a rule is called. */
export const ruleName = (rule: RolloutRule): string => names[rule];
