import { Command } from "commander";
import type { DoctorOptions } from "../doctor/run-doctor.js";

const list = (text: string, before: string[]) => [...before, text];

/** `arpo-lab doctor [CONFIG] [key=value…]`: what this machine has, and what is wrong with a run's config. */
export function doctorCommand(): Command {
  return new Command("doctor")
    .description("look at this machine, or at a run's configuration before it runs")
    .argument("[config-and-overrides...]", "a YAML file with verl's keys, then key=value")
    .option("--config <file>", "the same as naming it, as for train; may be repeated", list, [])
    .option("--preset <name>", "grpo, arpo, aepo, tiny, 7b, …; may be repeated", list, [])
    .option("--endpoint <url>", "an OpenAI-compatible address to try; may be repeated", list, [])
    .option("--cluster <url>", "a Ray cluster's head to try")
    .option("--token-env <name>", "the variable that holds its token; without it, RAY_AUTH_TOKEN")
    .option("--engine <name>", "what is to train there: lab or verl; a small job looks at a node")
    .option(
      "--storage <folder>",
      "with --cluster: a folder that the nodes share; a small job tries it",
    )
    .option("--json", "print the checks as JSON and nothing else")
    .addHelpText(
      "after",
      "\nIt succeeds unless a check is an error. Keys of the environment are told to be there or not,\nnever shown.",
    )
    .action(async (words: string[], options: DoctorOptions) => {
      const { runDoctor } = await import("../doctor/run-doctor.js");
      process.exitCode = await runDoctor(words, options);
    });
}
