import { mkdirSync } from "#platform/files";
import { findKernel, kernelOf, type KernelSpec } from "../../../kernel/client/kernel-spec.js";
import {
  type CellFailure,
  clearOutputs,
  executeNotebook,
  type ExecutionEvent,
  type NotebookExecution,
} from "../../../kernel/notebook/execute.js";
import { pageOf } from "../../../kernel/notebook/html/page.js";
import { joinLines, type NotebookCell } from "../../../kernel/notebook/notebook.js";
import { injectParameters } from "../../../kernel/notebook/parameters.js";
import { type NotebookFile, readNotebook } from "../../../kernel/notebook/read.js";
import { writeAtomically, writeNotebook } from "../../../kernel/notebook/write.js";
import { printable } from "../../../src/base/text/printable.js";
import { accessSync, constants, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join, resolve } from "node:path";

const ansi = /\x1b\[[0-9;]*[A-Za-z]/g;

/** What a terminal may be given: colours as they are, all else that would move it shown. */
const coloured = (text: string): string =>
  text
    .split(/(\x1b\[[0-9;]*m)/)
    .map((part, i) => (i % 2 === 1 ? part : printable(part)))
    .join("");

/** Where in the failed cell it happened, if its traceback says so. */
function placeOf(
  traceback: string,
  count: number | null | undefined,
): { line: number; column: number } | undefined {
  const places = traceback.matchAll(/\bcell (?:In\[)?(\d+)\]?, line (\d+)(?::(\d+))?/gi);
  for (const [, cell, line, column] of places) {
    if (Number(cell) === count) return { line: Number(line), column: Number(column ?? 1) };
  }
  return undefined;
}

/** The error of a cell for the terminal: which cell, which line, and the traceback. */
export function failureText(failure: CellFailure, path: string, color: boolean): string {
  const { cell, index, error } = failure;
  const traceback = error.traceback.join("\n");
  const plain = traceback.replace(ansi, "");
  const place = placeOf(plain, cell.execution_count);
  const where = `${path}: cell ${index + 1}${place === undefined ? "" : `, line ${place.line}, column ${place.column}`}`;
  const what = `${error.ename}: ${error.evalue}`;
  const head = `${where}: ${what}`;
  const line = place === undefined ? undefined : joinLines(cell.source).split("\n")[place.line - 1];
  const shown = color ? coloured(traceback) : printable(plain);
  const excerpt = line === undefined || plain.includes(line.trim()) ? [] : [`    ${line.trim()}`];
  // Most tracebacks begin with what the head says.
  const [first = "", ...rest] = plain.split("\n");
  const isSaid =
    first !== "" && rest.length > 0 && [what, error.evalue].some((said) => said.startsWith(first));
  const lines = shown.split("\n").slice(isSaid ? 1 : 0);
  return [printable(head), ...excerpt, ...lines.map((l) => `  ${l}`)].join("\n");
}

/** What a person calls a cell: its first line that says something. */
function nameOf(cell: NotebookCell): string {
  const line = joinLines(cell.source)
    .split("\n")
    .map((l) => l.trim())
    .find((l) => l !== "");
  const short = line !== undefined && line.length > 50 ? `${line.slice(0, 49)}…` : (line ?? "");
  return printable(short);
}

const seconds = (s: number): string => (s < 10 ? `${s.toFixed(2)} s` : `${Math.round(s)} s`);

/**
 * Says how far an execution is: one line that changes in a terminal, one line a cell elsewhere.
 */
class RunReporter {
  readonly #out: NodeJS.WriteStream;
  #timer: NodeJS.Timeout | undefined;
  #line = "";

  constructor(out: NodeJS.WriteStream) {
    this.#out = out;
  }

  /** Takes one event of the execution. */
  report(event: ExecutionEvent): void {
    if (event.type === "kernel") {
      this.#status(`starting ${event.spec.displayName}`);
      return;
    }
    const place = `cell ${event.number} of ${event.of}`;
    const name = nameOf(event.cell);
    if (event.type === "start") {
      const start = Date.now();
      const show = (): void =>
        this.#status(`${place}  ${seconds((Date.now() - start) / 1000)}  ${name}`);
      show();
      if (this.#out.isTTY) this.#timer = setInterval(show, 200);
      return;
    }
    clearInterval(this.#timer);
    const mark = event.failed ? "failed" : "ok";
    this.line(`${place}  ${mark}  ${seconds(event.seconds)}  ${name}`);
  }

  /** Writes a line that stays. */
  line(text: string): void {
    this.#erase();
    this.#out.write(`${text}\n`);
  }

  /** Ends the changing line. */
  close(): void {
    clearInterval(this.#timer);
    this.#erase();
  }

  #status(text: string): void {
    if (!this.#out.isTTY) return;
    this.#erase();
    this.#line = text.slice(0, Math.max(20, (this.#out.columns || 80) - 1));
    this.#out.write(this.#line);
  }

  #erase(): void {
    if (this.#line !== "") this.#out.write("\r\x1b[2K");
    this.#line = "";
  }
}

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
  #began = false;

  constructor(path: string, file: NotebookFile, say: (line: string) => void) {
    this.#path = path;
    this.#file = file;
    this.#say = say;
  }

  save(): void {
    this.#began = true;
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
    // Where no cell ran there is nothing new to keep, and the file may hold an earlier run.
    if (!this.#began) return true;
    this.save();
    if (this.#failed === undefined) return true;
    // A folder of this process alone: nobody can have put a link where the file is to be.
    const spare = join(mkdtempSync(join(tmpdir(), "arpo-lab-")), basename(this.#path));
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

/**
 * Finds out before anything runs whether the result can be written: better known now than in an hour.
 * A file of its own is begun at once; a notebook that is run in place stays as it is.
 */
function prepare(out: string, file: NotebookFile | undefined): void {
  if (file !== undefined) {
    mkdirSync(dirname(out), { recursive: true });
    writeNotebook(out, file);
    return;
  }
  try {
    accessSync(out, constants.W_OK);
    accessSync(dirname(out), constants.W_OK);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(`Cannot run notebook: ${out} must be writable (or use --out), got ${reason}`, {
      cause: error,
    });
  }
}

/** Parameters become a cell of TypeScript, so the kernel must understand it. */
function checkParameters(parameters: Record<string, unknown>, kernel: KernelSpec): void {
  if (Object.keys(parameters).length === 0) return;
  if (/^(?:type|java)script$/i.test(kernel.language)) return;
  throw new RangeError(
    `Cannot set parameters: the kernel's language must be TypeScript or JavaScript, got ${kernel.language}`,
  );
}

function summary(result: NotebookExecution, seconds: number, out: string): string {
  const failed = result.failures.length > 0 ? `, ${result.failures.length} failed` : "";
  return `${result.ran} ${result.ran === 1 ? "cell" : "cells"} in ${seconds.toFixed(1)} s${failed}: ${out}`;
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
  checkParameters(options.param, kernel);
  for (const name of injectParameters(notebook, options.param)) {
    say(`${path}: no cell tagged 'parameters' mentions ${name}`);
  }
  clearOutputs(notebook);
  const { out, page } = targets(path, options);
  prepare(out, out === resolve(path) ? undefined : file);
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
