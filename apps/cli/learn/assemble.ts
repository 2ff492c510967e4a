import type { Config } from "../../../src/run/config/schema.js";
import type { LoadOptions } from "../../../src/run/config/options.js";
import type { LocalParts } from "../../../src/run/trainer/trainer.js";
import { assemble as assembleParts } from "../../../src/run/trainer/assemble.js";
import { loadConfig } from "../../../src/run/config/load.js";
import { aside } from "../terminal/say.js";

/** Reads the configuration of a command and says what it left out. */
export async function readConfig(experiment: LoadOptions): Promise<Config> {
  const loaded = await loadConfig(experiment);
  for (const note of loaded.notes) aside(`note: ${note}`);
  if (loaded.kept.length > 0) {
    aside(`kept for a cluster, without meaning here: ${loaded.kept.join(", ")}`);
  }
  return loaded.config;
}

/** Everything the configuration names; what was left out is told on the error stream. */
export const assemble = (config: Config): Promise<LocalParts> =>
  assembleParts(config, (message) => aside(`note: ${message}`));
