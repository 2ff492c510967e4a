import { Command } from "commander";
import { readableNames } from "../../../src/formats/read/file-kinds.js";
import { list, port, positive, whole } from "../terminal/values.js";
import type { ViewCommandOptions } from "../view/view-rollouts.js";

/** `arpo-lab view PATH`: other people's rollouts, or a run folder, in the explorer and on the board. */
export function viewCommand(): Command {
  return new Command("view")
    .description(
      "open rollouts in the explorer and on the board: of verl, verifiers, prime-rl, TRL, SkyRL, Tinker, inspect, agent programs, message logs, and arpo-lab runs and trees",
    )
    .argument("<path>", `a file, a folder, or a pattern in quotes: ${readableNames}`)
    .option("--format <name>", "format of the files; default: detected")
    .option("--tokenizer <folder>", "Hugging Face folder with the tokenizer of the tokens")
    .option("--policy <model>", "compute log-probabilities and entropies under this model")
    .option("--temperature <number>", "sampling temperature for --policy", positive, 1)
    .option("--score <column>", "column with the score; may be repeated", list)
    .option(
      "--rows <count>",
      "most trajectories to build trees of; the metrics count all",
      whole(1),
      20_000,
    )
    .option("--out <file.html>", "write one self-contained page and exit")
    .option("--port <number>", "port to listen on; default: any free one", port)
    .option("--no-browser", "do not open a browser")
    .action(async (path: string, options: ViewCommandOptions) =>
      (await import("../view/view-rollouts.js")).viewRollouts(path, options),
    );
}
