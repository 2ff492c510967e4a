import { Command } from "commander";
import type { EnvCheckOptions } from "../env/run-env-check.js";

const list = (text: string, before: string[]) => [...before, text];

/** `arpo-lab env check URL`: what an OpenEnv server can do. */
export function envCommand(): Command {
  const env = new Command("env").description("environments that a server acts out");
  env
    .command("check")
    .description(
      "say what an OpenEnv environment can do: its tools, sessions, and whether trajectories branch",
    )
    .argument("<url>", "the server's address, such as http://127.0.0.1:8000")
    .option("--call <tool=input>", "a call to try; may be repeated", list, [])
    .option("--token-env <name>", "the environment variable with the token to send")
    .option("--json", "print the answer as JSON and nothing else")
    .action(async (url: string, options: EnvCheckOptions) => {
      const { runEnvCheck } = await import("../env/run-env-check.js");
      await runEnvCheck(url, options);
    });
  return env;
}
