import { Command } from "commander";

/** `arpo-lab init [FOLDER]`: a sample project that trains as it is. */
export function initCommand(): Command {
  return new Command("init")
    .description(
      "make a sample project: questions, a tool, a reward, settings, a notebook and a test",
    )
    .argument("[folder]", "an empty or a new folder", ".")
    .action(async (folder: string) => (await import("../init/init-project.js")).runInit(folder));
}
