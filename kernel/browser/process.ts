import { formatWithOptions, inspect } from "node-inspect-extracted";
import type * as node from "../node/process.js";
import { tabProcess } from "./tab-process.js";
import { tableText } from "./table-text.js";

type Print = (name: "stdout" | "stderr", text: string) => void;

/** The console of cells: what Node's prints, under the cell that prints it. */
function cellConsole(print: Print): Partial<Console> {
  let indent = "";
  const times = new Map<string, number>();
  const counts = new Map<string, number>();
  const say =
    (name: "stdout" | "stderr") =>
    (...data: unknown[]): void => {
      const text = formatWithOptions({}, ...(data as [unknown, ...unknown[]]));
      print(name, `${indent}${text.replaceAll("\n", `\n${indent}`)}\n`);
    };
  const [out, err] = [say("stdout"), say("stderr")];
  const elapsed = (label: string, ...more: unknown[]): void => {
    const since = times.get(label);
    if (since === undefined) return err(`Warning: No such label '${label}' for console.time()`);
    out(`${label}: ${(performance.now() - since).toFixed(3)}ms`, ...more);
  };
  const group = (...label: unknown[]): void => {
    if (label.length > 0) out(...label);
    indent += "  ";
  };
  return {
    log: out,
    info: out,
    debug: out,
    warn: err,
    error: err,
    trace: (...data: unknown[]) => {
      const stack = new Error().stack?.split("\n").slice(2).join("\n") ?? "";
      err(`Trace: ${formatWithOptions({}, ...(data as [unknown]))}\n${stack}`);
    },
    dir: (value: unknown, options?: object) => out(inspect(value, options)),
    assert: (holds?: boolean, ...data: unknown[]) => {
      if (!holds) err(...(data.length > 0 ? ["Assertion failed:", ...data] : ["Assertion failed"]));
    },
    table: (data?: unknown, columns?: readonly string[]) => {
      const text = tableText(data, columns, (value) => inspect(value, { depth: 0 }));
      if (text === undefined) out(data);
      else out(text);
    },
    group,
    groupCollapsed: group,
    groupEnd: () => void (indent = indent.slice(2)),
    time: (label = "default") => void times.set(label, performance.now()),
    timeLog: (label = "default", ...more: unknown[]) => elapsed(label, ...more),
    timeEnd: (label = "default") => {
      elapsed(label);
      times.delete(label);
    },
    count: (label = "default") => {
      counts.set(label, (counts.get(label) ?? 0) + 1);
      out(`${label}: ${counts.get(label)}`);
    },
    countReset: (label = "default") => void counts.delete(label),
  };
}

export class ExitError extends Error {
  override name = "ExitError";
  constructor(readonly code: number | string) {
    super(
      `process.exit(${code}) ends this cell, not the kernel; restart or shut it down from the front end`,
    );
  }
}

export const captureProcess: typeof node.captureProcess = ({ print, uncaught, rejected }) => {
  Object.assign(console, cellConsole(print));
  const process = tabProcess(print, (code) => {
    throw new ExitError(code);
  });
  Object.defineProperty(globalThis, "process", { value: process, configurable: true });
  addEventListener("error", (event: ErrorEvent) => {
    event.preventDefault();
    uncaught(event.error ?? new Error(event.message));
  });
  addEventListener("unhandledrejection", (event: PromiseRejectionEvent) => {
    event.preventDefault();
    rejected(event.reason, event.promise);
  });
  // Whoever started the thread ends it.
  return { exit: () => close(), cleanUp: () => undefined };
};
