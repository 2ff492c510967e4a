import { type Check, findings } from "../check.js";

const { ok, note, error } = findings("keys");

/** Keys that parts of the toolkit read from the environment. */
const known: Readonly<Record<string, string>> = {
  BRIGHT_DATA_API_KEY: "searches through Bright Data",
  OPENAI_API_KEY: "OpenAI's endpoints",
};

/** Whether keys are there; their values are never looked at further or shown. */
export function keyChecks(names: readonly string[] = [], env = process.env): Check[] {
  const needed = names.map((name) => {
    const there = Boolean(env[name]);
    const found = `${name} is ${there ? "set" : "not set"}, and the configuration needs it`;
    return there ? ok("key", found) : error("key", found, `export ${name}=...`);
  });
  const others = Object.keys(known).filter((name) => !names.includes(name));
  return [
    ...needed,
    ...others.map((name) =>
      note("key", `${name} is ${env[name] ? "set" : "not set"} (${known[name]!})`),
    ),
  ];
}
