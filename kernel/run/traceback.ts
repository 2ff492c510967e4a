import { originalPlace } from "#kernel-platform/source-map";
import { asWritten } from "../contract/added.js";
import type { ErrorReport } from "../contract/bridge.js";
import { type ColumnMap, sourceOf } from "../contract/column-map.js";
import type { DebugSource } from "../contract/debug.js";
import { dim, excerpt, red } from "../host/excerpt.js";

interface StackFrame {
  /** Of the function, as the engine has it; empty where it has none. */
  name: string;
  file: string;
  row: number;
  column: number;
}

// V8's frames stand below the message; those of SpiderMonkey and JavaScriptCore are all there is.
const v8 = /^\s+at (?:(.*?) \(|async )?([^()]*?):(\d+):(\d+)\)?$/;
const others = /^(?!\s)(?:([^@]*)@)(.*?):(\d+):(\d+)$/;
/** How JavaScriptCore and SpiderMonkey call what is no function, and mark what has been waited for. */
const noName = /^(eval|module|global) code$|^async\*|\/?<$/g;

/** The frames of an error's stack, innermost first. */
export function stackFrames(stack: string): StackFrame[] {
  const lines = stack.split("\n");
  const form = lines.some((line) => v8.test(line)) ? v8 : others;
  return lines.flatMap((line) => {
    const match = form.exec(line);
    if (match === null) return [];
    const [, given = "", file = "", row = "1", column = "1"] = match;
    const name = form === v8 ? given : given.replace(noName, "");
    return [{ name, file, row: Number(row), column: Number(column) }];
  });
}

interface Source {
  count: number;
  source: string;
  /** JSON until the first error needs it: parsed, it takes fifty times the memory. */
  map: string | undefined;
}

/** How many errors one traceback tells of: causes and those of an AggregateError. */
const MOST_ERRORS = 20;
/** How many characters of a message or a thrown value. */
const MOST_TEXT = 100_000;

const bounded = (text: string): string =>
  text.length <= MOST_TEXT
    ? text
    : `${text.slice(0, MOST_TEXT)}… ${text.length - MOST_TEXT} more characters`;

/** Turns errors into tracebacks whose positions are those of the cells a person wrote. */
export class Tracebacks {
  readonly #sources = new Map<string, Source>();
  /** Source maps of the files that cells import, by path. */
  modules: ReadonlyMap<string, string> = new Map();

  /** Remembers what a file name in a stack trace stands for. */
  add(filename: string, count: number, source: string, map: string | undefined): void {
    this.#sources.set(filename, { count, source, map });
  }

  /** What a file name in a stack trace stands for, for whoever maps positions elsewhere. */
  sourceOf(filename: string): DebugSource {
    const cell = this.#sources.get(filename);
    if (cell !== undefined) return { source: cell.source, map: cell.map };
    return { map: this.modules.get(filename) };
  }

  /** Whatever was thrown: reading it may throw in turn, and then that is told instead. */
  report(error: unknown): ErrorReport {
    try {
      return this.#report(error);
    } catch (failure) {
      const evalue = `what was thrown cannot be read: ${inspectSafely(failure)}`;
      return { ename: "Thrown", evalue, traceback: [red(`Thrown: ${evalue}`)] };
    }
  }

  #report(error: unknown): ErrorReport {
    if (!(error instanceof Error)) {
      const evalue = bounded(typeof error === "string" ? error : inspectSafely(error));
      return { ename: "Thrown", evalue, traceback: [red(`Thrown: ${evalue}`)] };
    }
    return {
      ename: nameOf(error),
      evalue: read(() => asWritten(String(error.message))),
      traceback: this.#lines(error, new Set()),
    };
  }

  /** The stack of an error as plain lines, in the words of its cells. */
  frames(error: Error): string[] {
    return this.#frames(error).frames.map(plain);
  }

  #lines(error: Error, seen: Set<Error>): string[] {
    seen.add(error);
    const { frames, shown } = this.#frames(error);
    const message = read(() => asWritten(String(error.message)));
    const lines = [red(`${nameOf(error)}: ${message}`), ...frames];
    if (shown !== undefined) lines.push("", ...shown);
    const { cause } = error;
    if (seen.size >= MOST_ERRORS) {
      if (cause !== undefined) lines.push(dim("caused by more errors"));
    } else if (cause instanceof Error && !seen.has(cause)) {
      lines.push(dim("caused by"), ...this.#lines(cause, seen));
    } else if (cause !== undefined && !(cause instanceof Error)) {
      lines.push(dim(`caused by ${inspectSafely(cause)}`));
    }
    if (error instanceof AggregateError) {
      const { errors } = error as { errors: unknown[] };
      for (const inner of errors.slice(0, MOST_ERRORS)) {
        const isNew = inner instanceof Error && !seen.has(inner) && seen.size < MOST_ERRORS;
        if (isNew) for (const line of this.#lines(inner, seen)) lines.push(line);
      }
      const left = errors.length - MOST_ERRORS;
      if (left > 0) lines.push(dim(`… ${left} more errors`));
    }
    return lines;
  }

  #frames(error: Error): { frames: string[]; shown: string[] | undefined } {
    const frames: string[] = [];
    let shown: string[] | undefined;
    const stack = read(() => error.stack);
    for (const { name, file, row, column } of stackFrames(stack)) {
      const source = this.#sources.get(file);
      // Below the cell's first frame is the kernel itself; Node's own frames explain nothing.
      if (source === undefined && (file.startsWith("node:") || isKernelFile(file))) continue;
      if (source === undefined) {
        const map = this.modules.get(file);
        const at = position(map, row, column);
        const place = `${file}:${at.line}:${at.column}`;
        frames.push(dim(`    at ${name ? `${name} (${place})` : place}`));
        continue;
      }
      const place = position(source.map, row, column);
      const where = `cell ${source.count}, line ${place.line}:${place.column}`;
      const plain = /^(async )?(Object\.)?<anonymous>$|^evalmachine|^$/.test(name);
      frames.push(`    at ${plain ? where : `${name} (${where})`}`);
      shown ??= excerpt(source.source.split("\n"), place.line, place.column);
    }
    return { frames, shown };
  }
}

/** Without the colours of a traceback. */
const plain = (line: string): string => line.replace(/\u001b\[\d*m/g, "");

const kernelFolder = new URL("..", import.meta.url).href;
const isKernelFile = (file: string): boolean => file.startsWith(kernelFolder);

function position(
  json: string | undefined,
  row: number,
  column: number,
): { line: number; column: number } {
  if (json === undefined) return { line: row, column };
  const map = JSON.parse(json) as object | ColumnMap;
  if ("columns" in map) {
    const place = sourceOf(map, row - 1, column - 1);
    return { line: place.line, column: place.column + 1 };
  }
  const entry = originalPlace(json, row - 1, column - 1);
  return entry === undefined
    ? { line: row, column }
    : { line: entry.line + 1, column: entry.column + 1 };
}

/** A property of an error as text: it may be a getter that throws, or no text at all. */
function read(property: () => unknown): string {
  try {
    const value = property();
    return value === undefined ? "" : bounded(String(value));
  } catch (failure) {
    return `(cannot be read: ${inspectSafely(failure)})`;
  }
}

function nameOf(error: Error): string {
  return read(() => error.name) || "Error";
}

function inspectSafely(value: unknown): string {
  try {
    if (value instanceof Error) return String(value);
    return typeof value === "object" ? (JSON.stringify(value) ?? String(value)) : String(value);
  } catch {
    return typeof value; // to name it any better would be to ask it again
  }
}
