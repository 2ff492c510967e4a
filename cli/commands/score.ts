import { Command, Option } from "commander";
import type { ScoreCommandOptions } from "../eval/score-outputs.js";

const list = (text: string, before: string[] = []) => [...before, text];

/** `arpo-lab score FOLDER`: evaluates answers that are there already. */
export function scoreCommand(): Command {
  return new Command("score")
    .description("evaluate answers from files: every NAME_output_TURN.json below a folder")
    .argument("<folder>", "ours or the reference's results")
    .option("--out <folder>", "metrics and report; without it, the same folder")
    .addOption(
      new Option("--task <kind>", "how benchmarks of unknown names are scored").choices([
        "math",
        "math-numeric",
        "qa",
      ]),
    )
    .option("--judge <url>", "a server whose model says whether answers are right", list)
    .option("--judge-model <name>", "the model's name there", "Qwen2.5-72B-Instruct")
    .option("--judge-key-env <name>", "the environment variable with the judge's key")
    .action(async (folder: string, options: ScoreCommandOptions) =>
      (await import("../eval/score-outputs.js")).scoreOutputs(folder, options),
    );
}
