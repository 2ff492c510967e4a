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
    .description("estimate a run's time, tokens, tool calls and memory from two small steps")
    .argument("[config-and-overrides...]", "a YAML file with verl's keys, then key=value overrides")
    .option("--config <file>", "a YAML file with verl's keys; may be repeated", list, [])
    .option("--preset <name>", "grpo, arpo, aepo, tiny, 7b, …; may be repeated", list, [])
    .option("--prompts <count>", "prompts per measured step", whole, 2)
    .option("--price <tag=cost>", "price of one call of a tool; may be repeated", price, {})
    .option("--json", "print only JSON")
    .action(async (words: string[], options: EstimateCommand) =>
      (await import("../learn/estimate.js")).estimateRun(words, options),
    );
}
