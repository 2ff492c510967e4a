export { configKeys, type ConfigKey } from "./config/keys.js";
export { loadConfig, type LoadOptions, type LoadedConfig } from "./config/load.js";
export { parseOverride, type Override } from "./config/override.js";
export { presets, type Preset } from "./config/presets.js";
export type { Config } from "./config/schema.js";
