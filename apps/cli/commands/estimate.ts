import { notNegative, pair, whole } from "../terminal/values.js";
import type { EstimateCommand } from "../learn/estimate.js";
import { filesOrOverrides } from "./options.js";
import { Command } from "commander";

const price = pair("as a tool's tag, = and what a call costs: search=0.002", notNegative);

/** `arpo-lab estimate [CONFIG] [key=value…]`: what a run will take, before it runs. */
export function estimateCommand(): Command {
  return filesOrOverrides(new Command("estimate"))
    .description("estimate a run's time, tokens, tool calls and memory from two small steps")
    .option("--prompts <count>", "prompts per measured step", whole(1), 2)
    .option("--price <tag=cost>", "price of one call of a tool; may be repeated", price, {})
    .option("--json", "print only JSON")
    .action(async (words: string[], options: EstimateCommand) =>
      (await import("../learn/estimate.js")).estimateRun(words, options),
    );
}
