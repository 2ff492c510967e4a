import { configKeys } from "../../run/config/keys.js";
import { carriedAs } from "./key-table.js";

const ours = new Set(configKeys.map(({ path }) => path));

/** The key of an override as verl's command line takes it: `key=value`, `+key=value`, `++key=value`, `~key`. */
export const keyOf = (setting: string): string =>
  setting.replace(/^(~|\+{0,2})/, "").split("=")[0]!;

/**
 * Overrides with settings in verl's own names laid over them: one that sets the same key takes the place of
 * ours. Names of ours that verl takes and never reads, or has elsewhere, are refused.
 */
export function withOwnSettings(overrides: readonly string[], own: readonly string[]): string[] {
  const refuse = (rule: string, setting: unknown): never => {
    throw new RangeError(`Cannot export to verl: ${rule}, got ${JSON.stringify(setting)}`);
  };
  for (const setting of own) {
    if (typeof setting !== "string" || !/^(\+{0,2}[\w.@/-]+=.*|~[\w.@/-]+)$/.test(setting)) {
      refuse("settings must be verl's key=value, ++key=value or ~key, on one line", setting);
    }
    const key = keyOf(setting);
    if (!ours.has(key)) continue;
    const carried = carriedAs(key);
    if ("to" in carried && carried.to === key) continue;
    refuse(
      "to" in carried
        ? `settings must be in verl 0.9.1's own names, where this is ${carried.to}`
        : "settings must be verl's own: this key belongs to the configuration",
      setting,
    );
  }
  const taken = new Set(own.map(keyOf));
  return [...overrides.filter((one) => !taken.has(keyOf(one))), ...own];
}
