import { currentFolder, environment } from "#platform/process";
import type * as node from "../node/process.js";
import { formatWithOptions, inspect } from "node-inspect-extracted";

/**
 * What cells find as `process`: what a notebook uses of Node's. It names no versions: libraries take those
 * for a sign that Node is there.
 */
function tabProcess(
  print: (name: "stdout" | "stderr", text: string) => void,
  exit: (code: number | string) => never,
): object {
  const stream = (name: "stdout" | "stderr") => ({
    isTTY: false,
    write: (text: string | Uint8Array) => {
      print(name, typeof text === "string" ? text : new TextDecoder().decode(text));
      return true;
    },
  });
  return {
    stdout: stream("stdout"),
    stderr: stream("stderr"),
    env: environment,
    argv: [],
    platform: "tab",
    arch: "wasm32",
    cwd: currentFolder,
    exit: (code = 0) => exit(code as number),
    nextTick: (call: (...args: unknown[]) => void, ...args: unknown[]) =>
      queueMicrotask(() => call(...args)),
    uptime: () => performance.now() / 1000,
    hrtime: { bigint: () => BigInt(Math.round(performance.now() * 1e6)) },
  };
}

/** Rows and columns as `console.table` draws them; undefined of what has none. */
function tableText(
  data: unknown,
  columns: readonly string[] | undefined,
  text: (value: unknown) => string,
): string | undefined {
  if (typeof data !== "object" || data === null) return undefined;
  const rows: [string, unknown][] =
    data instanceof Map
      ? [...data.entries()].map(([key, value]) => [text(key), value])
      : Object.entries(data);
  const hasFields = (value: unknown): value is Record<string, unknown> =>
    typeof value === "object" && value !== null;
  const names = columns ?? [
    ...new Set(rows.flatMap(([, row]) => (hasFields(row) ? Object.keys(row) : []))),
  ];
  const plain = rows.some(([, row]) => !hasFields(row));
  const head = ["(index)", ...names, ...(plain ? ["Values"] : [])];
  const body = rows.map(([key, row]) => [
    key,
    ...names.map((name) => (hasFields(row) && name in row ? text(row[name]) : "")),
    ...(plain ? [hasFields(row) ? "" : text(row)] : []),
  ]);
  const widths = head.map((name, i) => Math.max(name.length, ...body.map((row) => row[i]!.length)));
  const line = (cells: readonly string[]) =>
    `│ ${cells.map((cell, i) => cell.padEnd(widths[i]!)).join(" │ ")} │`;
  const rule = (left: string, cross: string, right: string) =>
    left + widths.map((width) => "─".repeat(width + 2)).join(cross) + right;
  return [
    rule("┌", "┬", "┐"),
    line(head),
    rule("├", "┼", "┤"),
    ...body.map(line),
    rule("└", "┴", "┘"),
  ].join("\n");
}

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
