import type { ConfigPreset } from "./presets.js";
import type { Config } from "./schema.js";
import type { Tree } from "./tree.js";

export interface LoadOptions {
  /** YAML files, the later over the earlier. Default: none. */
  files?: readonly string[];
  /** A named starting point, under the files. Default: none. */
  preset?: ConfigPreset | readonly ConfigPreset[];
  /** The same as text or as a tree, over the files. Default: none. */
  values?: Tree;
  /** Command-line overrides, over all else. Default: none. */
  overrides?: readonly string[];
  /** What `${oc.env:NAME}` in a value reads. Default: the process's environment variables. */
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
