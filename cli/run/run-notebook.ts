import { mkdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join, resolve } from "node:path";
import { findKernel, kernelOf } from "../../kernel/client/kernel-spec.js";
import {
  clearOutputs,
  executeNotebook,
  type NotebookExecution,
} from "../../kernel/notebook/execute.js";
import { pageOf } from "../../kernel/notebook/page/page.js";
import { injectParameters } from "../../kernel/notebook/parameters.js";
import { type NotebookFile, readNotebook } from "../../kernel/notebook/read.js";
import { writeAtomically, writeNotebook } from "../../kernel/notebook/write.js";
import { failureText } from "./failure-text.js";
import { RunReporter } from "./reporter.js";

/** The options of `arpo-lab run`, as parsed. */
export interface RunOptions {
  out?: string;
  html?: boolean;
  timeout?: number;
  param: Record<string, unknown>;
  kernel?: string;
  allowErrors?: boolean;
}

/** Keeps writing while a disk is full or a folder gone, complains once, and finds another place. */
class Saver {
  readonly #path: string;
  readonly #file: NotebookFile;
  readonly #say: (line: string) => void;
  #failed: Error | undefined;

  constructor(path: string, file: NotebookFile, say: (line: string) => void) {
    this.#path = path;
    this.#file = file;
    this.#say = say;
  }

  save(): void {
    try {
      writeNotebook(this.#path, this.#file);
      this.#failed = undefined;
    } catch (error) {
      const reason = error instanceof Error ? error : new Error(String(error));
      if (this.#failed === undefined) this.#say(`${reason.message} (going on, trying again)`);
      this.#failed = reason;
    }
  }

  /** The last try; what ran is put into the temporary folder rather than lost. */
  finish(): boolean {
    this.save();
    if (this.#failed === undefined) return true;
    const spare = join(tmpdir(), `${process.pid}-${basename(this.#path)}`);
    writeNotebook(spare, this.#file);
    this.#say(`${this.#failed.message}; what ran is in ${spare}`);
    return false;
  }
}

/** Which notebook goes where: the file itself, unless told otherwise. */
function targets(path: string, options: RunOptions): { out: string; page: string | undefined } {
  const out = resolve(options.out ?? path);
  return { out, page: options.html === true ? `${out.replace(/\.ipynb$/, "")}.html` : undefined };
}

function summary(result: NotebookExecution, seconds: number, out: string): string {
  const failed = result.failures.length > 0 ? `, ${result.failures.length} failed` : "";
  return `${result.ran} cells in ${seconds.toFixed(1)} s${failed}: ${out}`;
}

/** Runs a notebook for `arpo-lab run` and returns the exit code. */
export async function runNotebook(path: string, options: RunOptions): Promise<number> {
  const start = performance.now();
  const reporter = new RunReporter(process.stderr);
  const say = (line: string): void => reporter.line(line);
  const file = readNotebook(path);
  const { notebook } = file;
  const kernel =
    options.kernel === undefined ? kernelOf(notebook.metadata) : findKernel(options.kernel);
  for (const name of injectParameters(notebook, options.param)) {
    say(`${path}: no cell tagged 'parameters' mentions ${name}`);
  }
  clearOutputs(notebook);
  const { out, page } = targets(path, options);
  if (out !== resolve(path)) {
    mkdirSync(dirname(out), { recursive: true });
    // Before anything runs: a place that cannot be written is better known now than in an hour.
    writeNotebook(out, file);
  }
  const saver = new Saver(out, file, say);
  const stop = new AbortController();
  let code = 0;
  const onSignal = (signal: "SIGINT" | "SIGTERM"): void => {
    if (stop.signal.aborted) process.exit(code);
    code = signal === "SIGINT" ? 130 : 143;
    say(`${signal}: stopping; again to leave at once`);
    stop.abort();
  };
  process.on("SIGINT", onSignal).on("SIGTERM", onSignal);
  try {
    const result = await executeNotebook(notebook, {
      kernel,
      cwd: dirname(resolve(path)),
      timeout: options.timeout,
      allowErrors: options.allowErrors,
      save: () => saver.save(),
      onEvent: (event) => reporter.report(event),
      signal: stop.signal,
    });
    for (const failure of result.failures) say(failureText(failure, path, process.stderr.isTTY));
    if (result.failures.length > 0 && options.allowErrors !== true) code ||= 1;
    say(summary(result, (performance.now() - start) / 1000, out));
  } finally {
    reporter.close();
    process.off("SIGINT", onSignal).off("SIGTERM", onSignal);
    if (!saver.finish()) code ||= 2;
  }
  if (page !== undefined) {
    writeAtomically(
      page,
      pageOf(notebook, {
        title: basename(path).replace(/\.ipynb$/, ""),
        folder: dirname(resolve(path)),
      }),
    );
    say(page);
  }
  return code;
}
