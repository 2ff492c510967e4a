import { Command, InvalidArgumentError } from "commander";
import type { ViewCommandOptions } from "../view/view-rollouts.js";

const whole =
  (least: number, most = Number.MAX_SAFE_INTEGER) =>
  (text: string): number => {
    const value = Number(text);
    if (Number.isInteger(value) && value >= least && value <= most) return value;
    const to = most < Number.MAX_SAFE_INTEGER ? ` to ${most}` : "";
    throw new InvalidArgumentError(`It must be a whole number from ${least}${to}.`);
  };

function positive(text: string): number {
  const value = Number(text);
  if (!(value > 0)) throw new InvalidArgumentError("It must be a number above 0.");
  return value;
}

const list = (text: string, before: string[] = []) => [...before, text];

/** `arpo-lab view PATH`: other people's rollouts, or a run folder, in the explorer and on the board. */
export function viewCommand(): Command {
  return new Command("view")
    .description(
      "look at rollouts of verl, verifiers, prime-rl, TRL, SkyRL, Tinker, message logs, and at our own runs and trees",
    )
    .argument("<path>", "a file, a folder, or a pattern in quotes: .jsonl, .json, .parquet")
    .option("--format <name>", "what the files are, where it cannot be seen")
    .option("--tokenizer <folder>", "a Hugging Face folder whose tokenizer reads the tokens")
    .option("--policy <model>", "fill in log-probs and entropies by scoring under this model")
    .option("--temperature <number>", "for --policy: what the logits are divided by", positive, 1)
    .option("--score <column>", "a column that makes the score; may be repeated", list)
    .option("--rows <count>", "rows of which trees are made; all are counted", whole(1), 20_000)
    .option("--out <file.html>", "write one page that needs nothing else, and end")
    .option("--port <number>", "the port to listen on; without it, any free one", whole(0, 65535))
    .option("--no-browser", "do not open a browser")
    .action(async (path: string, options: ViewCommandOptions) =>
      (await import("../view/view-rollouts.js")).viewRollouts(path, options),
    );
}
