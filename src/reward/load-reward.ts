import { resolve } from "#platform/path";
import { addressOf } from "#platform/addresses";
import { homePath } from "../base/files/home-path.js";
import { importModule } from "../base/modules/import-module.js";
import { nearest } from "../../common/options/nearest.js";
import { deepResearch } from "./answers/deep-research.js";
import { environmentReward } from "./environment-reward.js";
import { gsm8k, math, mathNumeric } from "./answers/math.js";
import { exactMatch, substringMatch } from "./answers/qa-em.js";
import { byDataSource, nameOf } from "./by-data-source.js";
import { isGroupReward, type Reward, type RewardFunction } from "./reward-function.js";

/** What the reference chooses by a task's data source where no reward is named; the rest is deep research. */
const naive: Readonly<Record<string, RewardFunction>> = {
  "openai/gsm8k": gsm8k,
  "lighteval/MATH": math,
  "DigitalLearningGmbH/MATH-lighteval": math,
  "searchR1_*": exactMatch,
};

/** Whether tasks of a data source are judged by a rule of their own where a configuration names no reward. */
export function judgedApart(dataSource: string): boolean {
  return nameOf(Object.keys(naive), dataSource) !== undefined;
}

/** The rewards that a configuration can name. */
const builtInRewards: Readonly<Record<string, RewardFunction>> = {
  deep_research: deepResearch,
  math,
  "math-numeric": mathNumeric,
  gsm8k,
  environment: environmentReward,
  exact_match: exactMatch,
  substring_match: substringMatch,
  // The reference's own choice by data source, which every published run overrides with deep_research.
  naive: byDataSource(naive, deepResearch),
};

/**
 * Loads the reward that a configuration names: a built-in, or the export of a JavaScript or TypeScript module
 * (types are removed, not checked). The export is a function for one trajectory, or a `groupReward` for all
 * trajectories of a prompt. The reference's file `deep_research.py` means the built-in of that name.
 *
 * @param path the name of a built-in reward, or a module's file
 * @param name the name of the module's export
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { loadReward } from "arpo-lab/learn";
 *
 * assert.equal(typeof (await loadReward("verl/utils/reward_score/deep_research.py")), "function");
 * await assert.rejects(loadReward("deep_reserch"), /did you mean deep_research\?/);
 * ```
 */
export async function loadReward(path: string | null, name = "compute_score"): Promise<Reward> {
  if (path === null) return builtInRewards["naive"]!;
  const known = /([\w-]+)(?:\.py)?$/.exec(path)?.[1] ?? "";
  if (!/\.m?[jt]s$/.test(path)) {
    const reward = builtInRewards[known];
    if (reward) return reward;
    const near = nearest(known, Object.keys(builtInRewards));
    throw new RangeError(
      `Cannot load a reward: it must be a module (.js, .mjs, .ts, .mts) or one of ${Object.keys(builtInRewards).join(", ")}, got ${path}${near ? `; did you mean ${near}?` : ""}`,
    );
  }
  const module = await importModule(addressOf(resolve(homePath(path)))).catch((error: unknown) => {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(`Cannot load a reward: ${path} must be a module that loads, got ${reason}`, {
      cause: error,
    });
  });
  const reward = module[name] ?? module["default"];
  if (typeof reward !== "function" && !isGroupReward(reward)) {
    throw new TypeError(
      `Cannot load a reward: ${path} must export a function or a groupReward ${name}, got ${Object.keys(module).join(", ") || "nothing"}`,
    );
  }
  return reward as Reward;
}
