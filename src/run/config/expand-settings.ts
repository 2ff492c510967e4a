import type { ExpandOptions } from "../../rollout/branch/family/settings.js";
import type { Config } from "./schema.js";

/** `lab.expand` under the names of a rollout's options, without what is left to the published values. */
export function expandSettings({ max_length: maxLength, ...same }: Config["lab"]["expand"]) {
  const all = Object.entries({ ...same, maxLength }).filter(([, value]) => value !== null);
  return Object.fromEntries(all) as ExpandOptions;
}
