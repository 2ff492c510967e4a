import type { LoadOptions, LoadedConfig } from "./options.js";

/**
 * Loads a configuration written with verl's and ARPO's keys: presets, then YAML files, then overrides,
 * with `${…}` filled in. Unknown keys are errors that name the nearest known one; keys for clusters are
 * kept and listed.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { loadConfig } from "arpo-lab/run";
 *
 * const { config, kept } = await loadConfig({
 *   preset: "arpo",
 *   overrides: ["actor_rollout_ref.rollout.n=12", "trainer.nnodes=2"],
 * });
 * assert.equal(config.actor_rollout_ref.rollout.n, 12);
 * assert.deepEqual(kept, ["trainer.nnodes"]);
 * await assert.rejects(
 *   loadConfig({ overrides: ["actor_rollout_ref.rollout.entropy_wieght=1"] }),
 *   /did you mean actor_rollout_ref.rollout.entropy_weight\?/,
 * );
 * ```
 */
export async function loadConfig(options: LoadOptions = {}): Promise<LoadedConfig> {
  const { loadAndCheck } = await import("./load-and-check.js");
  return loadAndCheck(options);
}
