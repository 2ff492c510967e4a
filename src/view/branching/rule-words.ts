import type { BranchRule } from "../../rollout/branch/branch-rule.js";
import { writtenRule } from "../../rollout/rules/registry.js";

const words: Readonly<Record<BranchRule, string>> = {
  "arpo-code": "after a call: entropy against the trajectory's first, and a draw",
  "arpo-paper": "after a call: entropy against the trajectory's first, over a threshold",
  "seed-docs": "after a call: entropy over a share of the trajectory's first, and a draw",
  "aepo-code": "after a call: as arpo-code, less after branches in a row",
  "aepo-paper": "after a call: as arpo-paper, less after branches in a row",
};

/** What a rule goes by, in a few words. */
export const ruleWords = (rule: string): string =>
  writtenRule(rule)?.words ?? words[rule as BranchRule];
