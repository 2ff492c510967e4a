import { Command, InvalidArgumentError } from "commander";
import type { EstimateCommand } from "../learn/estimate.js";

const list = (text: string, before: string[]) => [...before, text];

function whole(text: string): number {
  const value = Number(text);
  if (Number.isInteger(value) && value >= 1) return value;
  throw new InvalidArgumentError("It must be a whole number above 0.");
}

/** `search=0.002` among prices by tag. */
function price(text: string, before: Record<string, number>): Record<string, number> {
  const [tag, value] = text.split("=") as [string, string?];
  if (tag !== "" && value !== undefined && value !== "" && Number(value) >= 0) {
    return { ...before, [tag]: Number(value) };
  }
  throw new InvalidArgumentError("It must be a tool's tag, = and what a call costs: search=0.002.");
}

/** `arpo-lab estimate [CONFIG] [key=value…]`: what a run will take, before it runs. */
export function estimateCommand(): Command {
  return new Command("estimate")
    .description("what a run will take: time, tokens, calls and memory, from two small steps")
    .argument("[config-and-overrides...]", "a YAML file with verl's keys, then key=value")
    .option("--config <file>", "the same as naming it, as for train; may be repeated", list, [])
    .option("--preset <name>", "grpo, arpo, aepo, tiny, 7b, …; may be repeated", list, [])
    .option("--prompts <count>", "prompts of the steps that are tried", whole, 2)
    .option("--price <tag=cost>", "what a call of a tool costs; may be repeated", price, {})
    .option("--json", "print the figures as JSON and nothing else")
    .action(async (words: string[], options: EstimateCommand) =>
      (await import("../learn/estimate.js")).estimateRun(words, options),
    );
}
