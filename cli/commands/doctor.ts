import { Command } from "commander";
import type { DoctorOptions } from "../doctor/run-doctor.js";

const list = (text: string, before: string[]) => [...before, text];

/** `arpo-lab doctor [CONFIG] [key=value…]`: what this machine has, and what is wrong with a run's config. */
export function doctorCommand(): Command {
  return new Command("doctor")
    .description("check this machine, or a configuration before it runs")
    .argument("[config-and-overrides...]", "a YAML file with verl's keys, then key=value overrides")
    .option("--config <file>", "a YAML file with verl's keys; may be repeated", list, [])
    .option("--preset <name>", "grpo, arpo, aepo, tiny, 7b, …; may be repeated", list, [])
    .option("--endpoint <url>", "check an OpenAI-compatible endpoint; may be repeated", list, [])
    .option("--cluster <url>", "check a Ray cluster by the address of its head node")
    .option(
      "--token-env <name>",
      "environment variable with the cluster's token; default: RAY_AUTH_TOKEN",
    )
    .option(
      "--engine <name>",
      "training engine to check for: lab or verl; runs a small job on a node",
    )
    .option(
      "--storage <folder>",
      "with --cluster: check that the nodes share this folder; runs a small job",
    )
    .option("--json", "print only JSON")
    .addHelpText(
      "after",
      "\nThe exit status is 0 unless a check is an error. Environment keys are reported as set or not set;\ntheir values are never printed.",
    )
    .action(async (words: string[], options: DoctorOptions) => {
      const { runDoctor } = await import("../doctor/run-doctor.js");
      process.exitCode = await runDoctor(words, options);
    });
}
