// The `arpo-lab` command.
import { heldDevice } from "../src/tensor/gpu/device.js";
import { sidecarCommand } from "./commands/sidecar.js";
import { captureCommand } from "./commands/capture.js";
import { convertCommand } from "./commands/convert.js";
import { doctorCommand } from "./commands/doctor.js";
import { estimateCommand } from "./commands/estimate.js";
import { fetchCommand } from "./commands/fetch.js";
import { learnCommands } from "./commands/learn.js";
import { envCommand } from "./commands/env.js";
import { evalCommand } from "./commands/eval.js";
import { labCommand } from "./commands/lab.js";
import { scaleCommands } from "./commands/scale.js";
import { runCommand } from "./commands/run.js";
import { scoreCommand } from "./commands/score.js";
import { siteCommand } from "./commands/site.js";
import { serveCommand } from "./commands/serve.js";
import { viewCommand } from "./commands/view.js";
import { Stopped } from "./stopping.js";
import type { Place } from "./kernelspec/places.js";
import { aside } from "./say.js";
import { Stopped } from "./stopping.js";

const { version } = JSON.parse(
  readFileSync(new URL("../../package.json", import.meta.url), "utf8"),
) as { version: string };

const program = new Command("arpo-lab")
  .version(version, "-V, --version", "say which version this is")
  .description("A TypeScript notebook kernel and toolkit for agentic reinforcement learning.")
  .showHelpAfterError();

const kernel = program.command("kernel").description("the notebook kernel");

const place = (command: Command): Command =>
  command
    .addOption(
      new Option("--user", "for this user (the default)").conflicts(["prefix", "sysPrefix"]),
    )
    .addOption(
      new Option("--prefix <dir>", "below DIR/share/jupyter/kernels").conflicts("sysPrefix"),
    )
    .addOption(new Option("--sys-prefix", "below the active Python environment's folder"));

place(kernel.command("install"))
  .description("tell Jupyter front ends about the arpo-lab kernels")
  .action(async (options: Place) =>
    (await import("./commands/kernel-install.js")).install(options),
  );

place(kernel.command("remove"))
  .description("remove what install wrote")
  .action(async (options: Place) => (await import("./commands/kernel-install.js")).remove(options));

kernel
  .command("list")
  .description("where the kernels are installed")
  .action(async () => (await import("./commands/kernel-install.js")).list());

program.addCommand(runCommand());
program.addCommand(labCommand());
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
program.addCommand(sidecarCommand(), { hidden: true });

await program.parseAsync().catch((error: unknown) => {
  // A message may quote what a model or a tool wrote.
  aside(error instanceof Error ? error.message : String(error));
  const { code } = error as { code?: unknown };
  if (code === "EMFILE" || code === "ENFILE") {
    aside("The process must be allowed to open more files: ulimit -n 1024");
  }
  process.exitCode = error instanceof Stopped ? error.status : 1;
});
// While a GPU is held, Dawn keeps the process alive.
heldDevice()?.destroy();
