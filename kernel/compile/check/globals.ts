// What a cell may name before Node's own types are loaded. Those are a hundred files; a session that
// only counts and prints does not wait for them. The first cell that names anything else (or imports
// a package) loads @types/node, which then replaces this file.

/** Where the text below pretends to live. */
export const globalsFile = "/__arpo_lab__/globals.d.ts";

const printers = ["debug", "dir", "error", "group", "info", "log", "trace", "warn"];

export const globalsText = `
interface Console {
${printers.map((name) => `  ${name}(...data: any[]): void;`).join("\n")}
  assert(condition?: boolean, ...data: any[]): void;
  count(label?: string): void;
  groupEnd(): void;
  table(data?: any, columns?: readonly string[]): void;
  time(label?: string): void;
  timeEnd(label?: string): void;
}
declare var console: Console;
interface ImportMeta {
  dirname: string;
  filename: string;
  url: string;
}
`;
