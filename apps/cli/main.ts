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
  aside(messageOf(error));
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

/** An error's message; the system's own, where nothing said more, with what was done and what the rule is. */
function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { syscall, path, code } = error as NodeJS.ErrnoException;
  if (!syscall || !path || !code || !error.message.startsWith(`${code}: `)) return error.message;
  const words = process.argv.slice(2);
  const options = words.findIndex((word) => !/^[a-z-]+$/.test(word) || word.startsWith("-"));
  const command = ["arpo-lab", ...words.slice(0, options < 0 ? undefined : options)].join(" ");
  return `Cannot run ${command}: ${path} must allow ${syscall}, got ${error.message.split(",")[0]}`;
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
