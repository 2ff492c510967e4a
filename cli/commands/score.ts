import { Command, Option } from "commander";
import type { ScoreCommandOptions } from "../eval/score-outputs.js";

const list = (text: string, before: string[] = []) => [...before, text];

/** `arpo-lab score FOLDER`: evaluates answers that are there already. */
export function scoreCommand(): Command {
  return new Command("score")
    .description("evaluate saved answers: every NAME_output_TURN.json in a folder")
    .argument("<folder>", "a results folder of arpo-lab or of the reference code")
    .option("--out <folder>", "folder for metrics and report; default: the same folder")
    .addOption(
      new Option("--task <kind>", "how to score benchmarks with unknown names").choices([
        "math",
        "math-numeric",
        "qa",
      ]),
    )
    .option("--judge <url>", "a server whose model says whether answers are right", list)
    .option("--judge-model <name>", "the judge's model name", "Qwen2.5-72B-Instruct")
    .option("--judge-key-env <name>", "environment variable with the judge's key")
    .action(async (folder: string, options: ScoreCommandOptions) =>
      (await import("../eval/score-outputs.js")).scoreOutputs(folder, options),
    );
}
