import { checkOptions, listOf, type OptionRules } from "../common/options/check-options.js";
import { write } from "#platform/note";
import { askTerminal } from "#platform/process";
import { randomUUID } from "#platform/uuid";
import { displaySymbol } from "./display/displayable.js";
import { formatValue } from "./display/format.js";
import * as rich from "./display/rich.js";
import {
  type Comm,
  type CommMessage,
  type CommOptions,
  type Comms,
  currentHost,
  type MimeBundle,
} from "./host/host.js";

export {
  html,
  image,
  javascript,
  json,
  latex,
  markdown,
  raw,
  type Rich,
  svg,
  text,
} from "./display/rich.js";
export { formatValue } from "./display/format.js";
export type { MimeBundle } from "./host/host.js";
export { progress } from "./display/progress/progress.js";
export { widget, type Widget, type WidgetOptions } from "./display/widget/widget.js";
export { displaySymbol, type Displayable } from "./display/displayable.js";
export { summarySymbol, type Summarizable, type ValueSummary } from "./display/summary.js";
export type { Comm } from "./host/host.js";
export { InterruptError } from "./host/host.js";
export { registerStage, type Stage, type StageOption } from "./contract/stage.js";

/** How a value is shown. */
export interface ShowOptions {
  /**
   * Showing another value under the same id, in the same run of a cell, replaces the first.
   * Default: a new id each time.
   */
  id?: string;
  /**
   * What the front end should know, by mime type (`{ "image/png": { width: 300 } }`). Default:
   * none.
   */
  metadata?: Record<string, unknown>;
}

const showRules: OptionRules<ShowOptions> = { id: "text?", metadata: "object?" };

/** Something shown that can be replaced where it is. */
export interface DisplayHandle {
  readonly id: string;
  /**
   * Shows another value in its place.
   * @param value the value to show now
   */
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

/** @param value what to show; a value that shows itself, or any other */
function show(value: unknown, options: ShowOptions = {}): DisplayHandle {
  checkOptions("display", options, showRules);
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
  /** @param text a string that is shown as HTML */
  html: (text: string, options?: ShowOptions) => show(rich.html(text), options),
  /** @param text Markdown source */
  markdown: (text: string, options?: ShowOptions) => show(rich.markdown(text), options),
  /** @param text LaTeX source, with or without `$` */
  latex: (text: string, options?: ShowOptions) => show(rich.latex(text), options),
  /** @param text an `<svg>` element */
  svg: (text: string, options?: ShowOptions) => show(rich.svg(text), options),
  /** @param bytes the content of a PNG file */
  png: (bytes: Uint8Array, options?: ShowOptions) => show(rich.image(bytes, "image/png"), options),
  /** @param bytes the content of a JPEG file */
  jpeg: (bytes: Uint8Array, options?: ShowOptions) =>
    show(rich.image(bytes, "image/jpeg"), options),
  /** @param bytes the content of a GIF file */
  gif: (bytes: Uint8Array, options?: ShowOptions) => show(rich.image(bytes, "image/gif"), options),
  /** @param bytes the content of a picture's file; its kind is recognised */
  image: (bytes: Uint8Array, options?: ShowOptions) => show(rich.image(bytes), options),
  /** @param text JavaScript source that the page runs */
  javascript: (text: string, options?: ShowOptions) => show(rich.javascript(text), options),
  /** @param value any value; it is shown as a tree of JSON */
  json: (value: unknown, options?: ShowOptions) => show(rich.json(value), options),
  /** @param text the text to show, without quotes */
  text: (text: string, options?: ShowOptions) => show(rich.text(text), options),
  /**
   * @param mime the mime type, such as `text/csv`
   * @param content text, bytes (they become base64), or an object for a JSON type
   */
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
export function clearOutput(
  options: {
    /** Wait for the next output before clearing. Default: false. */
    wait?: boolean;
  } = {},
): void {
  checkOptions("clear the output", options, { wait: "boolean?" });
  currentHost()?.clearOutput(options.wait ?? false);
}

interface PromptOptions {
  /** What is typed is not shown. Default: false. */
  password?: boolean;
}

const promptRules: OptionRules<PromptOptions> = { password: "boolean?" };

/** @param message the question to show beside the input field */
async function ask(message = "", options: PromptOptions = {}): Promise<string> {
  checkOptions("ask", options, promptRules);
  const host = currentHost();
  if (host !== undefined) return host.input(message, options);
  return await askTerminal(message);
}

/** @param message the question to show beside the input field */
function askSync(message = "", options: PromptOptions = {}): string {
  checkOptions("ask", options, promptRules);
  const host = currentHost();
  if (host === undefined) {
    throw new Error("Cannot ask: prompt.sync must run in a kernel, got a plain Node program");
  }
  return host.inputSync(message, options);
}

/**
 * Asks the person at the notebook and waits for the answer; `prompt.sync` blocks like a browser's.
 *
 * @example
 * ```ts
 * import { prompt } from "arpo-lab/kernel";
 *
 * const greet = async () => `Hello ${await prompt("Your name? ")}`;
 * const unlock = async () => await prompt("Key: ", { password: true });
 * ```
 */
export const prompt = Object.assign(ask, { sync: askSync });

function hostComms(): Comms {
  const host = currentHost();
  if (host === undefined) {
    throw new Error("Cannot use comms: a front end must be there, got a plain Node program");
  }
  return host.comms;
}

/**
 * Channels between this session and the page: open one, or let the page open one.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { comms } from "arpo-lab/kernel";
 *
 * const serve = () => comms.register("echo", (comm) => {
 *   comm.onMessage = ({ data }) => comm.send(data);
 * });
 * assert.throws(serve, /a front end must be there/); // this example runs outside a kernel
 * ```
 */
export const comms: Comms = {
  open: (
    target: string,
    data?: Record<string, unknown>,
    options: CommOptions & { id?: string } = {},
  ): Comm => {
    checkOptions("open a comm", options, {
      metadata: "object?",
      buffers: listOf("bytes", "bytes"),
      id: "text?",
    });
    return hostComms().open(target, data, options);
  },
  register: (target: string, opened: (comm: Comm, message: CommMessage) => void): void =>
    hostComms().register(target, opened),
  unregister: (target: string): void => hostComms().unregister(target),
  get all(): ReadonlyMap<string, Comm> {
    return currentHost()?.comms.all ?? new Map<string, Comm>();
  },
};
