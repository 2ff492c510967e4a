import type { Preset } from "./presets.js";
import type { Config } from "./schema.js";
import type { Tree } from "./tree.js";

export interface LoadOptions {
  /** YAML files, the later over the earlier. */
  files?: readonly string[];
  /** A named starting point, under the files. */
  preset?: Preset | readonly Preset[];
  /** The same as text or as a tree, over the files. */
  values?: Tree;
  /** Command-line overrides, over all else. */
  overrides?: readonly string[];
  env?: Readonly<Record<string, string | undefined>>;
}

/** A checked configuration and what there is to say about it. */
export interface LoadedConfig {
  config: Config;
  /** Keys that were set and mean nothing on one machine; kept for export. */
  kept: string[];
  /** Overrides that were left out, and why. */
  notes: string[];
}

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
