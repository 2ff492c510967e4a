import { isBuffer, isPromise, isProxy } from "#platform/inspect";
import { currentHost, InterruptError, type MimeBundle } from "../host/host.js";
import {
  base64,
  displaySymbol,
  type FormatValue,
  isDisplayable,
  normalizeBundle,
  sniffImage,
} from "./displayable.js";
import { figureBundle, isFigure } from "./figure/figure.js";
import { escapeHtml } from "./html.js";
import { bound, inspectText } from "./inspect.js";
import type { Numbers } from "./numeric.js";
import {
  arqueroTable,
  dataFrameTable,
  isArquero,
  isDataFrame,
  mapTable,
  recordsTable,
  tableBundle,
} from "./table.js";
import { isTensor, numbersBundle, tensorBundle } from "./tensor.js";

const internalFrame = /\(node:|at node:/;

/** The stack's frames: in the words of cells inside a kernel, without Node's own anywhere. */
function framesOf(error: Error): string[] {
  const host = currentHost();
  if (host !== undefined) return host.frames(error);
  const stack = typeof error.stack === "string" ? error.stack : "";
  return stack.split("\n").filter((line) => /^\s+at /.test(line) && !internalFrame.test(line));
}

/** Own fields that say more than the message: code, path, status and the like. */
function fieldsOf(error: Error): string[] {
  const usual = new Set(["name", "message", "stack", "cause", "errors"]);
  const entries = Object.entries(error).filter(([key]) => !usual.has(key));
  return entries.map(
    ([key, value]) => `    ${key}: ${inspectText(value, { depth: 1, line: true, limit: 500 })}`,
  );
}

/**
 * An error as a person reads it: name and message, where it happened, what else it carries, what
 * caused it, and each error of an AggregateError.
 */
export function errorText(thrown: unknown, depth = 5, seen = new Set<unknown>()): string {
  if (!(thrown instanceof Error) && !isErrorLike(thrown)) return inspectText(thrown);
  if (seen.has(thrown)) return `${thrown.name}: ${thrown.message} (shown above)`;
  seen.add(thrown);
  const lines = [`${thrown.name}: ${thrown.message}`, ...framesOf(thrown), ...fieldsOf(thrown)];
  const nested = (error: unknown): string =>
    errorText(error, depth - 1, seen).replace(/\n/g, "\n  ");
  if (depth > 0) {
    const errors: unknown = (thrown as { errors?: unknown }).errors;
    if (Array.isArray(errors)) {
      errors.slice(0, 20).forEach((error, i) => lines.push(`  [${i}] ${nested(error)}`));
      if (errors.length > 20) lines.push(`  … ${errors.length - 20} more errors`);
    }
    if (thrown.cause !== undefined) lines.push(`Caused by ${nested(thrown.cause)}`);
  }
  return lines.join("\n");
}

/** True for an error of another realm, which `instanceof` does not know. */
function isErrorLike(value: unknown): value is Error {
  return Object.prototype.toString.call(value) === "[object Error]";
}

/** An error as HTML: name and message, the rest under a fold. */
export function errorHtml(error: Error): string {
  const [, ...rest] = errorText(error).split(`${error.name}: ${error.message}`);
  const below = rest.join(`${error.name}: ${error.message}`).replace(/^\n/, "");
  const head = `<b style="color:#d33">${escapeHtml(error.name)}</b>: ${escapeHtml(error.message)}`;
  if (below === "") return `<div>${head}</div>`;
  return `<details><summary>${head}</summary><pre>${escapeHtml(below)}</pre></details>`;
}

/** What a value looks like to whoever wrote no display method for it. */
function defaultBundle(value: object): MimeBundle | Promise<MimeBundle> | undefined {
  // A proxy's traps are somebody's code: it is inspected from behind and nothing else.
  if (isProxy(value)) return undefined;
  if (value instanceof Error || isErrorLike(value)) {
    return { "text/plain": errorText(value), "text/html": errorHtml(value) };
  }
  if (value instanceof Uint8Array) {
    const mime = sniffImage(value);
    if (mime !== undefined) {
      return { [mime]: base64(value), "text/plain": `[${mime}, ${value.length} bytes]` };
    }
    if (isBuffer(value)) return undefined;
  }
  if (ArrayBuffer.isView(value) && !(value instanceof DataView)) {
    const numbers = value as unknown as Numbers;
    const name = value.constructor.name;
    return numbersBundle(`${name}(${numbers.length})`, numbers, [numbers.length]);
  }
  if (Array.isArray(value)) {
    const table = recordsTable(value);
    return table === undefined ? undefined : tableBundle(table);
  }
  if (value instanceof Map)
    return { ...tableBundle(mapTable(value)), "text/plain": inspectText(value) };
  if (value instanceof URL) return urlBundle(value);
  if (isTensor(value)) return tensorBundle(value);
  if (isDataFrame(value)) return tableBundle(dataFrameTable(value));
  if (isArquero(value)) return tableBundle(arqueroTable(value));
  if (isFigure(value)) return figureBundle(value);
  const { outerHTML } = value as { outerHTML?: unknown };
  if (typeof outerHTML === "string")
    return { "text/html": outerHTML, "text/plain": bound(outerHTML) };
  return drawingBundle(value);
}

/** A drawing of a document that has no `outerHTML`: it says that it is one, and is one as text. */
function drawingBundle(value: object): MimeBundle | undefined {
  const { nodeName } = value as { nodeName?: unknown };
  if (typeof nodeName !== "string" || nodeName.toLowerCase() !== "svg") return undefined;
  const text = String(value);
  if (!/^\s*<svg[\s>]/i.test(text)) return undefined;
  return { "image/svg+xml": text, "text/plain": bound(text) };
}

function urlBundle(url: URL): MimeBundle {
  const text = { "text/plain": url.href };
  if (!/^https?:$/.test(url.protocol)) return text;
  const href = escapeHtml(url.href);
  return { ...text, "text/html": `<a href="${href}" rel="noopener noreferrer">${href}</a>` };
}

/** The text of a value whose own display failed, with the reason: shown, never thrown. */
function failed(value: unknown, error: unknown): MimeBundle {
  // Who interrupts a display wants the cell to end.
  if (error instanceof InterruptError) throw error;
  const reason = bound(errorText(error), 5000).replace(/\n/g, "\n  ");
  return { "text/plain": `${inspectText(value)}\n(its display failed: ${reason})` };
}

function withText(value: unknown, bundle: MimeBundle): MimeBundle | undefined {
  if (Object.keys(bundle).length === 0) return undefined; // a value that asks not to be shown
  return "text/plain" in bundle ? bundle : { ...bundle, "text/plain": inspectText(value) };
}

/**
 * Any value as a mime bundle with `text/plain` in it; undefined for undefined, which shows
 * nothing, and for a value whose display method returns an empty bundle.
 *
 * A value's own `[Symbol.for("Jupyter.display")]()` comes first, then what is known of tensors, typed
 * arrays, tables, figures, pictures and errors, then a bounded inspection. It never throws. It
 * returns a promise only where a value can be read in no other way.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { formatValue } from "arpo-lab/kernel";
 *
 * assert.deepEqual(await formatValue({ a: 1 }), { "text/plain": "{ a: 1 }" });
 * assert.equal(await formatValue(undefined), undefined);
 * ```
 */
export const formatValue: FormatValue = (value) => {
  if (value === undefined) return undefined;
  try {
    const bundle = isDisplayable(value)
      ? value[displaySymbol]()
      : typeof value === "object" && value !== null
        ? defaultBundle(value)
        : undefined;
    if (isPromise(bundle)) {
      return bundle.then(
        (later) => withText(value, normalizeBundle(later)),
        (error: unknown) => failed(value, error),
      );
    }
    if (bundle === undefined) return { "text/plain": inspectText(value) };
    return withText(value, normalizeBundle(bundle));
  } catch (error) {
    return failed(value, error);
  }
};
