import { Command, InvalidArgumentError } from "commander";
import { parseParameter } from "../../../kernel/notebook/parameters.js";
import type { RunOptions } from "../run/run-notebook.js";
import { aside } from "../terminal/say.js";
import { seconds } from "../terminal/values.js";

function parameter(text: string, before: Record<string, unknown>): Record<string, unknown> {
  try {
    const [key, value] = parseParameter(text);
    return { ...before, [key]: value };
  } catch (error) {
    throw new InvalidArgumentError(error instanceof Error ? error.message : String(error));
  }
}

/** `arpo-lab run FILE`: executes a notebook without a browser, or a program in TypeScript or JavaScript. */
export function runCommand(): Command {
  return new Command("run")
    .description("run a notebook and save its outputs, or run a program")
    .argument(
      "<file>",
      "an .ipynb file (cells run in its folder), or a .ts, .mts, .js or .mjs file",
    )
    .argument("[args...]", "arguments of the program; put its options after --")
    .option("--out <file>", "notebook to write; default: the notebook itself")
    .option("--html", "also write a self-contained HTML page beside the result")
    .option("--timeout <seconds>", "interrupt cells that take longer", seconds)
    .option(
      "--param <name=value>",
      "set a parameter (JSON or text); may be repeated",
      parameter,
      {},
    )
    .option("--kernel <name>", "kernel to use; default: the one that the notebook names")
    .option("--no-check", "run a program without checking its types")
    .option("--allow-errors", "continue after a failed cell and exit with status 0")
    .action(async (file: string, args: string[], options: RunOptions & { check: boolean }) => {
      if (/\.m?[jt]s$/.test(file)) {
        const { runProgram } = await import("../run/run-program.js");
        return runProgram(file, args, options);
      }
      try {
        if (args.length > 0) {
          throw new RangeError(
            `Cannot run ${file}: a notebook takes no arguments, got ${args.join(" ")}`,
          );
        }
        const { runNotebook } = await import("../run/run-notebook.js");
        process.exitCode = await runNotebook(file, options);
      } catch (error) {
        aside(error instanceof Error ? error.message : String(error));
        process.exitCode = 2;
      }
    });
}
