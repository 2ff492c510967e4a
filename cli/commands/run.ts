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

/** `arpo-lab run NOTEBOOK`: executes a notebook without a browser. */
export function runCommand(): Command {
  return new Command("run")
    .description("execute a notebook and keep what its cells showed")
    .argument("<notebook>", "an .ipynb file; cells run in its folder")
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
    .action(async (notebook: string, options: RunOptions) => {
      try {
        const { runNotebook } = await import("../run/run-notebook.js");
        process.exitCode = await runNotebook(notebook, options);
      } catch (error) {
        aside(error instanceof Error ? error.message : String(error));
        process.exitCode = 2;
      }
    });
}
