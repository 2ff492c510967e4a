import type { ConfigPreset } from "./presets.js";
import type { Config } from "./schema.js";
import type { Tree } from "./tree.js";

export interface LoadOptions {
  /** YAML files, the later over the earlier. */
  files?: readonly string[];
  /** A named starting point, under the files. */
  preset?: ConfigPreset | readonly ConfigPreset[];
  /** The same as text or as a tree, over the files. */
  values?: Tree;
  /** Command-line overrides, over all else. */
  overrides?: readonly string[];
  env?: Readonly<Record<string, string | undefined>>;
}

/** A checked configuration and what there is to say about it. */
export interface LoadedConfig {
  config: Config;
  /** Keys that were set and mean nothing on one machine. */
  kept: string[];
  /** Overrides that were left out, and why. */
  notes: string[];
}
