import { Command } from "commander";
import type { EnvCheckOptions } from "../env/run-env-check.js";

const list = (text: string, before: string[]) => [...before, text];

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
      const { runEnvCheck } = await import("../env/run-env-check.js");
      await runEnvCheck(url, options);
    });
  return env;
}
