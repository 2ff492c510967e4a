import type { LoadedConfig, LoadOptions } from "../../run/config/options.js";
import { loadConfig } from "../../run/config/load.js";
import { type Check, findings } from "../check.js";

const { error: wrong, note: noted } = findings("keys");

/**
 * Reads a configuration as a run does, but does not stop at the first mistake: a key that is unknown or
 * has an impossible value is told and left out, and the next one is looked for.
 */
export async function readConfig(
  options: LoadOptions,
): Promise<{ loaded?: LoadedConfig; checks: Check[] }> {
  const checks: Check[] = [];
  const overrides = [...(options.overrides ?? [])];
  for (let attempt = 0; attempt < 50; attempt++) {
    try {
      const loaded = await loadConfig({ ...options, overrides });
      for (const note of loaded.notes) checks.push(noted("override-without-value", note));
      return { loaded, checks };
    } catch (error) {
      const message = (error as Error).message.replace(/^Cannot load the configuration: /, "");
      const unknown =
        /^every key must be known, got (\S+?)(?:; (?:did you mean (\S+)\?|(.+)))?$/.exec(message);
      const invalid = /^([\w.]+)(?:: | must be )/.exec(message);
      const path = unknown?.[1] ?? invalid?.[1];
      const others = unknown?.[3] === undefined ? "" : `: ${unknown[3]}`;
      const fix = unknown?.[2] === undefined ? `remove it${others}` : `${unknown[2]} is meant?`;
      checks.push(
        unknown
          ? wrong("unknown-key", `there is no key ${unknown[1]!}`, fix)
          : wrong("bad-value", message),
      );
      if (path === undefined || overrides.includes(`~${path}`)) return { checks };
      overrides.push(`~${path}`);
    }
  }
  return { checks };
}
