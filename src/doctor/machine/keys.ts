import type { Check } from "../check.js";

const area = "keys";

/** Keys that parts of the toolkit read from the environment. */
const known: Readonly<Record<string, string>> = {
  BRIGHT_DATA_API_KEY: "searches through Bright Data",
  OPENAI_API_KEY: "OpenAI's endpoints",
};

/** Whether keys are there; their values are never looked at further or shown. */
export function keyChecks(names: readonly string[] = [], env = process.env): Check[] {
  const needed = names.map((name): Check => {
    const there = Boolean(env[name]);
    const found = `${name} is ${there ? "set" : "not set"}, and the configuration needs it`;
    return there
      ? { id: "key", area, status: "ok", found }
      : { id: "key", area, status: "error", found, fix: `export ${name}=...` };
  });
  const others = Object.keys(known).filter((name) => !names.includes(name));
  return [
    ...needed,
    ...others.map((name): Check => ({
      id: "key",
      area,
      status: "note",
      found: `${name} is ${env[name] ? "set" : "not set"} (${known[name]!})`,
    })),
  ];
}
