import type { DoctorOptions } from "../checks/run-doctor.js";
import type { EnvCheckOptions } from "../checks/run-env-check.js";
import { list } from "../terminal/values.js";
import { filesOrOverrides } from "./options.js";
import { Command, Option } from "commander";

/** `arpo-lab doctor [CONFIG] [key=value…]`: what this machine has, and what is wrong with a run's config. */
export function doctorCommand(): Command {
  return filesOrOverrides(new Command("doctor"))
    .description("check this machine, or a configuration before it runs")
    .option("--endpoint <url>", "check an OpenAI-compatible endpoint; may be repeated", list, [])
    .option("--cluster <url>", "check a Ray cluster by the address of its head node")
    .option(
      "--token-env <name>",
      "environment variable with the cluster's token; default: RAY_AUTH_TOKEN",
    )
    .addOption(
      new Option(
        "--engine <name>",
        "training engine to check for; runs a small job on a node",
      ).choices(["lab", "verl"]),
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
      const { runDoctor } = await import("../checks/run-doctor.js");
      process.exitCode = await runDoctor(words, options);
    });
}

/** `arpo-lab env check URL`: what an OpenEnv server can do. */
export function envCommand(): Command {
  const env = new Command("env").description("environments on a server");
  env
    .command("check")
    .description(
      "print what an OpenEnv server supports: tools, sessions, and whether trajectories can branch",
    )
    .argument("<url>", "the server's address, such as http://127.0.0.1:8000")
    .option("--call <tool=input>", "make this call; may be repeated", list, [])
    .option("--token-env <name>", "environment variable with the token to send")
    .option("--json", "print only JSON")
    .action(async (url: string, options: EnvCheckOptions) => {
      const { runEnvCheck } = await import("../checks/run-env-check.js");
      await runEnvCheck(url, options);
    });
  return env;
}
