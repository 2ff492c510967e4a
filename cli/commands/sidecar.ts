import { Command } from "commander";

/** `arpo-lab sidecar`: started by the scripts of a job folder, not by people. */
export function sidecarCommand(): Command {
  return new Command("sidecar")
    .description("serve a job folder's TypeScript tools and reward to a worker of verl")
    .argument("<folder>", "what `export` wrote")
    .argument("<socket>", "where the worker listens")
    .action(async (folder: string, socket: string) => {
      const { serveSidecar } = await import("../../src/scale/verl/sidecar/serve-sidecar.js");
      await serveSidecar(folder, socket);
      // A tool that left something running does not keep it.
      process.exit(0);
    });
}
