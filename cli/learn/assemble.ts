import type { Config } from "../../src/run/config/schema.js";
import type { LoadedConfig } from "../../src/run/config/options.js";
import type { ConfigPreset } from "../../src/run/config/presets.js";
import type { LocalParts } from "../../src/run/trainer/trainer.js";
import { assemble as assembleParts } from "../../src/run/trainer/assemble.js";
import { loadConfig } from "../../src/run/config/load.js";
import { aside } from "../terminal/say.js";

export interface ConfigOptions {
  config: string[];
  preset: string[];
}

/** Reads the configuration of a command and says what it left out. */
export async function readConfig(
  overrides: readonly string[],
  options: ConfigOptions,
): Promise<Config> {
  const loaded: LoadedConfig = await loadConfig({
    files: options.config,
    preset: (options.preset.length > 0 ? options.preset : ["arpo", "tiny"]) as ConfigPreset[],
    overrides,
  });
  for (const note of loaded.notes) aside(`note: ${note}`);
  if (loaded.kept.length > 0) {
    aside(`kept for a cluster, without meaning here: ${loaded.kept.join(", ")}`);
  }
  return loaded.config;
}

/** Everything the configuration names; what was left out is told on the error stream. */
export const assemble = (config: Config): Promise<LocalParts> =>
  assembleParts(config, (message) => aside(`note: ${message}`));
