// What a cell may name before Node's own types are loaded. Those are a hundred files; a session that
// only counts and prints does not wait for them. The first cell that names anything else (or imports
// a package) loads @types/node, which then replaces this file.

/** Where the first text below pretends to live. */
export const globalsFile = "/__arpo_lab__/globals.d.ts";

const printers = ["debug", "dir", "error", "group", "info", "log", "trace", "warn"];

const globalsText = `
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

/** Where the second does. */
export const cellNamesFile = "/__arpo_lab__/cell.d.ts";

// What cells have that Node has not: `kernel/run/start.ts` and `kernel/run/scope/scope.ts`.
const cellNamesText = `
/** Asks the person at the notebook, and waits. An empty answer stands for \`defaultValue\`. */
declare function prompt(message?: string, defaultValue?: string): string | null;
/** Asks the person at the notebook; true for y and yes. */
declare function confirm(message?: string): boolean;
/** Shows a message to the person at the notebook, and waits until it is answered. */
declare function alert(message?: string): void;
/** What notebooks written for Deno's kernel show things with; nothing else of Deno is here. */
declare namespace Deno {
  namespace jupyter {
    interface DisplayOptions {
      /** The value is a media bundle already. */
      raw?: boolean;
      /** Replaces what was shown under \`display_id\`. */
      update?: boolean;
      display_id?: string;
    }
    type MediaBundle = Record<string, string | object | undefined>;
    const $display: unique symbol;
    interface Displayable {
      [$display]: () => MediaBundle | Promise<MediaBundle>;
    }
    /** Shows a value. */
    function display(obj: unknown, options?: DisplayOptions): Promise<void>;
    /** The media bundle that a value is shown as. */
    function format(obj: unknown): Promise<MediaBundle>;
    /** Markdown, from a template. */
    function md(strings: TemplateStringsArray, ...values: unknown[]): Displayable;
    /** HTML, from a template. */
    function html(strings: TemplateStringsArray, ...values: unknown[]): Displayable;
    /** SVG, from a template. */
    function svg(strings: TemplateStringsArray, ...values: unknown[]): Displayable;
    /** A picture: PNG, JPEG, GIF or WebP, from a file or its bytes. */
    function image(pathOrBytes: string | Uint8Array): Displayable;
    /** Sends a message of the protocol to the front end. */
    function broadcast(
      msgType: string,
      content: Record<string, unknown>,
      extra?: { metadata?: Record<string, unknown>; buffers?: Uint8Array[] },
    ): Promise<void>;
  }
}
`;

/** Declarations that are no files. */
export const ambientTexts: ReadonlyMap<string, string> = new Map([
  [globalsFile, globalsText],
  [cellNamesFile, cellNamesText],
]);
