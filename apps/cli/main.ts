// The `arpo-lab` command.
import { arpoLab } from "./program.js";
import { aside, say } from "./terminal/say.js";
import { Stopped } from "./terminal/stopping.js";

// `arpo-lab … | head`: who reads has enough, so that there is nothing more to do. 141 is what shells expect.
for (const stream of [process.stdout, process.stderr]) {
  stream.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code !== "EPIPE") throw error;
    process.exit(141);
  });
}

const versionAlone = /^(-V|--version)$/.test(process.argv[2] ?? "");

await (versionAlone ? sayVersion() : arpoLab().parseAsync()).catch((error: unknown) => {
  // A message may quote what a model or a tool wrote.
  aside(error instanceof Error ? error.message : String(error));
  const { code } = error as { code?: unknown };
  // Node reports a package that it may not open as missing.
  if (code === "EMFILE" || code === "ENFILE" || (code === "ERR_MODULE_NOT_FOUND" && fewFiles())) {
    aside("The process must be allowed to open more files: ulimit -n 1024");
  }
  process.exitCode = error instanceof Stopped ? error.status : 1;
});

/** What the engine and the commit are is looked up only here. */
async function sayVersion(): Promise<void> {
  const { versionLine } = await import("./version/version-line.js");
  say(await versionLine());
}

function fewFiles(): boolean {
  const { userLimits } = process.report.getReport() as {
    userLimits?: { open_files?: { soft?: unknown } };
  };
  return Number(userLimits?.open_files?.soft) < 256;
}
// While a GPU is held, Dawn keeps the process alive.
const { heldDevice } = await import("../../src/tensor/gpu/device.js");
heldDevice()?.destroy();
