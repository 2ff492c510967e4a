import { Command } from "commander";

/** `arpo-lab beside`: started by the scripts of a job folder, not by people. */
export function besideCommand(): Command {
  return new Command("beside")
    .description("serve a job folder's TypeScript tools and reward to a worker of verl")
    .argument("<folder>", "what `export` wrote")
    .argument("<socket>", "where the worker listens")
    .action(async (folder: string, socket: string) => {
      const { serveBeside } = await import("../../src/scale/verl/beside/serve-beside.js");
      await serveBeside(folder, socket);
      // A tool that left something running does not keep it.
      process.exit(0);
    });
}
