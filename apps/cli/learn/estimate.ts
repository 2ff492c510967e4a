import { estimate } from "../../../src/doctor/estimate/estimate.js";
import { say } from "../terminal/say.js";
import { assemble, readConfig } from "./assemble.js";
import { type ConfigOptions, experimentIn } from "./experiment.js";

export interface EstimateCommand extends ConfigOptions {
  prompts: number;
  price: Record<string, number>;
  json?: boolean;
}

/** Tries two small steps of a configuration and prints what the whole run will take. */
export async function estimateRun(
  words: readonly string[],
  { prompts, price, json, ...options }: EstimateCommand,
): Promise<void> {
  const config = await readConfig(experimentIn(words, options));
  const parts = await assemble(config);
  try {
    const found = await estimate(parts, { prompts, prices: price });
    say(json ? JSON.stringify(found, undefined, 2) : found.toString());
  } finally {
    await parts.tools.dispose();
    parts.policy.model.dispose();
  }
}
