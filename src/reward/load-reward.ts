import { resolve } from "#platform/path";
import { addressOf } from "#platform/addresses";
import { homePath } from "../base/files/home-path.js";
import { importModule } from "../base/modules/import-module.js";
import { nearest } from "../../common/options/nearest.js";
import { isGroupReward, type Reward } from "./reward-function.js";
import { naiveReward, rewards } from "./rewards/registry.js";

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
  if (path === null) return naiveReward.reward;
  const known = /([\w-]+)(?:\.py)?$/.exec(path)?.[1] ?? "";
  if (!/\.m?[jt]s$/.test(path)) {
    const found = rewards.get(path) ?? rewards.get(known);
    if (found) return found.reward;
    const near = nearest(known, rewards.names);
    throw new RangeError(
      `Cannot load a reward: it must be a module (.js, .mjs, .ts, .mts) or one of ${rewards.names.join(", ")}, got ${path}${near ? `; did you mean ${near}?` : ""}`,
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
