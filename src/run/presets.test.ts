import assert from "node:assert/strict";
import { test } from "node:test";
import { presets } from "./presets.js";
import { loadConfig } from "./config/load.js";
import { advantageOptions, rolloutOptions, updateOptions } from "./trainer/options.js";

for (const [name, preset] of Object.entries(presets)) {
  test(`preset ${name} says the same in a cell and in a configuration`, async () => {
    const { config } = await loadConfig({ preset: name as keyof typeof presets });
    const configured: Record<string, unknown> = {
      ...rolloutOptions(config),
      ...updateOptions(config),
      ...advantageOptions(config),
    };
    for (const [option, value] of Object.entries(preset)) {
      assert.deepEqual(configured[option], value, option);
    }
  });
}
