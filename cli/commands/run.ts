import { Command, InvalidArgumentError } from "commander";
import { parseParameter } from "../../kernel/notebook/parameters.js";
import type { RunOptions } from "../run/run-notebook.js";
import { aside } from "../say.js";

function seconds(text: string): number {
  const value = Number(text);
  if (!(value > 0)) throw new InvalidArgumentError("It must be a number of seconds above 0.");
  return value;
}

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
    .description("execute a notebook and keep what its cells showed, or run a program")
    .argument(
      "<file>",
      "an .ipynb file, whose cells run in its folder; or a .ts, .mts, .js or .mjs file",
    )
    .argument("[args...]", "what the program finds in process.argv; options of its own after --")
    .option("--out <file>", "write the result there; without it, into the notebook itself")
    .option("--html", "also write a page that shows it without a network, beside the result")
    .option("--timeout <seconds>", "interrupt a cell that takes longer", seconds)
    .option(
      "--param <name=value>",
      "set a parameter (JSON or text); may be repeated",
      parameter,
      {},
    )
    .option("--kernel <name>", "another kernel than the notebook names")
    .option("--allow-errors", "go on after a cell that failed, and succeed")
    .action(async (file: string, args: string[], options: RunOptions) => {
      if (/\.m?[jt]s$/.test(file)) {
        const { runProgram } = await import("../run/run-program.js");
        return runProgram(file, args);
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
