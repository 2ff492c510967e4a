import type { LoadOptions } from "../../../src/run/config/options.js";
import type { ConfigPreset } from "../../../src/run/config/presets.js";

/** The options of every command that reads a configuration. */
export interface ConfigOptions {
  config: string[];
  preset: string[];
}

/** What a command's options say of a configuration; without a preset, as `arpo-lab train` has it. */
export const experimentOf = (
  { config: files, preset }: ConfigOptions,
  overrides: readonly string[],
): LoadOptions => ({
  ...{ files, overrides },
  preset: (preset.length > 0 ? preset : ["arpo", "tiny"]) as ConfigPreset[],
});

const isOverride = (word: string) => word.includes("=") || word.startsWith("~");

/** The same where files stand among the overrides. */
export const experimentIn = (words: readonly string[], { config, preset }: ConfigOptions) =>
  experimentOf(
    { config: [...config, ...words.filter((word) => !isOverride(word))], preset },
    words.filter(isOverride),
  );
