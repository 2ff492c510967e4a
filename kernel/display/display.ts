import { write } from "#platform/note";
import { randomUUID } from "#platform/uuid";
import { currentHost, type MimeBundle } from "../host/host.js";
import { displaySymbol } from "./displayable.js";
import { formatValue } from "./format.js";
import * as rich from "./rich.js";

/** How a value is shown. */
export interface ShowOptions {
  /** Showing another value under the same id, in the same run of a cell, replaces the first. */
  id?: string;
  /** What the front end should know, by mime type (`{ "image/png": { width: 300 } }`). */
  metadata?: Record<string, unknown>;
}

/** Something shown that can be replaced where it is. */
export interface DisplayHandle {
  readonly id: string;
  /** Shows another value in its place. */
  update(value: unknown): void;
}

// Which ids were shown by which run of a cell: there, and only there, showing again is replacing.
const shownBy = new Map<string, string>();

/** Sends a bundle to the kernel's front end, or prints its text where there is no kernel. */
function send(
  bundle: MimeBundle,
  id: string,
  update: boolean,
  metadata?: Record<string, unknown>,
): void {
  const host = currentHost();
  if (host !== undefined) host.display(bundle, { id, update, metadata });
  else write(`${String(bundle["text/plain"])}\n`);
}

class Shown implements DisplayHandle {
  readonly id: string;
  readonly #metadata: Record<string, unknown> | undefined;
  #pending: Promise<void> | undefined;

  constructor(id: string, metadata: Record<string, unknown> | undefined) {
    this.id = id;
    this.#metadata = metadata;
  }

  show(value: unknown, update: boolean): void {
    const bundle = formatValue(value);
    if (this.#pending === undefined && !(bundle instanceof Promise)) {
      if (bundle !== undefined) send(bundle, this.id, update, this.#metadata);
      return;
    }
    // A value that takes time to read must not be overtaken by a later one.
    const turn = Promise.all([bundle, this.#pending]).then(([ready]) => {
      if (ready !== undefined) send(ready, this.id, update, this.#metadata);
      if (this.#pending === turn) this.#pending = undefined;
    });
    this.#pending = turn;
  }

  update(value: unknown): void {
    this.show(value, true);
  }

  /** Nothing: the handle stands at the end of many cells, and what it handles is already shown. */
  [displaySymbol](): MimeBundle {
    return {};
  }
}

function show(value: unknown, options: ShowOptions = {}): DisplayHandle {
  const id = options.id ?? randomUUID();
  const handle = new Shown(id, options.metadata);
  if (options.id === undefined) {
    handle.show(value, false);
    return handle;
  }
  const run = currentHost()?.cell()?.id ?? "";
  const again = shownBy.get(id) === run;
  // A cell that shows an id again after another run refreshes what is left of the earlier one too.
  if (again || shownBy.has(id)) handle.show(value, true);
  if (!again) handle.show(value, false);
  shownBy.set(id, run);
  return handle;
}

/**
 * Shows a value now, in the middle of a cell, as the richest of its representations.
 *
 * Returns a handle whose `update()` replaces what is shown. `display.html(…)`, `.markdown`, `.latex`,
 * `.svg`, `.png`, `.jpeg`, `.gif`, `.image`, `.javascript`, `.json`, `.text` and `.raw` show content
 * of one kind. Outside a kernel it prints the value's text.
 *
 * @example
 * ```ts
 * import { display } from "arpo-lab/kernel";
 *
 * const handle = display({ step: 0 });
 * handle.update({ step: 1 });
 * display.markdown("**done**");
 * ```
 */
export const display = Object.assign(show, {
  html: (text: string, options?: ShowOptions) => show(rich.html(text), options),
  markdown: (text: string, options?: ShowOptions) => show(rich.markdown(text), options),
  latex: (text: string, options?: ShowOptions) => show(rich.latex(text), options),
  svg: (text: string, options?: ShowOptions) => show(rich.svg(text), options),
  png: (bytes: Uint8Array, options?: ShowOptions) => show(rich.image(bytes, "image/png"), options),
  jpeg: (bytes: Uint8Array, options?: ShowOptions) =>
    show(rich.image(bytes, "image/jpeg"), options),
  gif: (bytes: Uint8Array, options?: ShowOptions) => show(rich.image(bytes, "image/gif"), options),
  image: (bytes: Uint8Array, options?: ShowOptions) => show(rich.image(bytes), options),
  javascript: (text: string, options?: ShowOptions) => show(rich.javascript(text), options),
  json: (value: unknown, options?: ShowOptions) => show(rich.json(value), options),
  text: (text: string, options?: ShowOptions) => show(rich.text(text), options),
  raw: (mime: string, content: unknown, options?: ShowOptions) =>
    show(rich.raw(mime, content), options),
});

/**
 * Removes what the running cell has shown so far; with `wait`, only when the next output arrives,
 * which avoids flicker.
 *
 * @example
 * ```ts
 * import { clearOutput } from "arpo-lab/kernel";
 *
 * clearOutput({ wait: true });
 * ```
 */
export function clearOutput(options: { wait?: boolean } = {}): void {
  currentHost()?.clearOutput(options.wait ?? false);
}
