// The command line as a tree. Each command is a file of its own in apps/cli/commands; what it does is loaded when it runs.
import { readFileSync } from "node:fs";
import { Command, Option } from "commander";
import { scaleCommands, sidecarCommand } from "./commands/scale.js";
import { captureCommand, serveCommand } from "./commands/serve.js";
import { convertCommand, fetchCommand } from "./commands/models.js";
import { completionsCommand } from "./commands/completions.js";
import { completeHelp } from "./examples.js";
import { doctorCommand, envCommand } from "./commands/checks.js";
import { estimateCommand } from "./commands/estimate.js";
import { initCommand } from "./commands/init.js";
import { learnCommands } from "./commands/learn.js";
import { evalCommand, scoreCommand } from "./commands/eval.js";
import { labCommand, siteCommand } from "./commands/lab.js";
import { mcpCommand } from "./commands/mcp.js";
import { checkPaths } from "./commands/plain-paths.js";
import { runCommand } from "./commands/run.js";
import { viewCommand } from "./commands/view.js";
import type { Place } from "./kernelspec/kernel-specs.js";

const { version } = JSON.parse(
  readFileSync(new URL("../../../package.json", import.meta.url), "utf8"),
) as { version: string };

const place = (command: Command): Command =>
  command
    .addOption(
      new Option("--user", "install for this user (the default)").conflicts([
        "prefix",
        "sysPrefix",
      ]),
    )
    .addOption(
      new Option("--prefix <dir>", "install into DIR/share/jupyter/kernels").conflicts("sysPrefix"),
    )
    .addOption(new Option("--sys-prefix", "install into the active Python environment"));

/** `arpo-lab` with all its commands. */
export function arpoLab(): Command {
  const program = new Command("arpo-lab")
    .version(version, "-V, --version", "print the version, the engine and the commit")
    .description("A TypeScript notebook kernel and toolkit for agentic reinforcement learning.")
    .showHelpAfterError();

  const kernel = program
    .command("kernel")
    .description("install, remove and list the notebook kernel");

  place(kernel.command("install"))
    .description("install the arpo-lab kernels for Jupyter front ends")
    .action(async (options: Place) =>
      (await import("./commands/kernel-install.js")).install(options),
    );

  place(kernel.command("remove"))
    .description("remove the installed kernels")
    .action(async (options: Place) =>
      (await import("./commands/kernel-install.js")).remove(options),
    );

  kernel
    .command("list")
    .description("list where the kernels are installed")
    .action(async () => (await import("./commands/kernel-install.js")).list());

  program.addCommand(initCommand());
  program.addCommand(runCommand());
  program.addCommand(labCommand());
  program.addCommand(mcpCommand());
  program.addCommand(evalCommand());
  program.addCommand(scoreCommand());
  program.addCommand(serveCommand());
  program.addCommand(siteCommand());
  program.addCommand(viewCommand());
  program.addCommand(doctorCommand());
  program.addCommand(estimateCommand());
  program.addCommand(convertCommand());
  program.addCommand(fetchCommand());
  program.addCommand(envCommand());
  program.addCommand(captureCommand());
  for (const command of [...learnCommands(), ...scaleCommands()]) program.addCommand(command);
  program.addCommand(completionsCommand(program));
  program.addCommand(sidecarCommand(), { hidden: true });
  return completeHelp(checkPaths(program));
}
