import type { BranchSettings } from "../rules/decide-branch.js";
import type { Expansion, RolloutConfig } from "../settings.js";

type Renamed =
  "rule" | "expand" | "branchProbability" | "entropyWeight" | "threshold" | "penaltySlope";

/** What trees say of their settings that were written before settings had the names of the options. */
type Written = Omit<RolloutConfig, Renamed | "compat"> & {
  branch: BranchSettings;
  expansion?: Expansion;
  compat: Omit<RolloutConfig["compat"], "resultBegin"> & { resultBegin: number | null };
};

/** The settings of a tree that was read, under the names of today. */
export function currentConfig(config: RolloutConfig | Written): RolloutConfig {
  if (!("branch" in config)) return config;
  const { branch, expansion, compat, ...same } = config;
  const { resultBegin, ...switches } = compat;
  const { rule = branch.rule, ...expand } = expansion ?? {};
  return {
    ...same,
    rule,
    ...(expansion && { expand }),
    branchProbability: branch.probability,
    entropyWeight: branch.weight,
    threshold: branch.threshold,
    penaltySlope: branch.penaltySlope,
    compat: { ...switches, ...(resultBegin === null ? {} : { resultBegin }) },
  };
}
