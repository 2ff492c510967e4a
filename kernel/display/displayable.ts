import { toBase64 } from "#platform/bytes";
import type { MimeBundle } from "../host/host.js";
import { toJson } from "./json.js";

/** The picture formats that notebooks show, by their first bytes. */
export type ImageMime = "image/png" | "image/jpeg" | "image/gif" | "image/webp";

/** Names the picture format of some bytes, or undefined. */
export function sniffImage(bytes: Uint8Array): ImageMime | undefined {
  const starts = (...expected: number[]): boolean => expected.every((b, i) => bytes[i] === b);
  if (starts(0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a)) return "image/png";
  if (starts(0xff, 0xd8, 0xff)) return "image/jpeg";
  if (starts(0x47, 0x49, 0x46, 0x38)) return "image/gif";
  const riff = starts(0x52, 0x49, 0x46, 0x46);
  if (riff && [0x57, 0x45, 0x42, 0x50].every((b, i) => bytes[8 + i] === b)) return "image/webp";
  return undefined;
}

/** Bytes as the base64 that messages and notebooks carry. */
export function base64(bytes: Uint8Array): string {
  return toBase64(bytes);
}

/**
 * The method by which a value says how it is shown; the name is Deno's, so values work in both.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { displaySymbol, formatValue } from "arpo-lab/kernel";
 *
 * class Temperature {
 *   constructor(readonly celsius: number) {}
 *   [displaySymbol]() {
 *     return { "text/plain": `${this.celsius} degrees` };
 *   }
 * }
 * assert.deepEqual(await formatValue(new Temperature(20)), { "text/plain": "20 degrees" });
 * ```
 */
export const displaySymbol: unique symbol = Symbol.for("Jupyter.display");

/**
 * A value that shows itself: a mime bundle, several representations at once.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { displaySymbol, formatValue } from "arpo-lab/kernel";
 *
 * const answer = { [displaySymbol]: () => ({ "text/html": "<b>42</b>", "text/plain": "42" }) };
 * assert.deepEqual(await formatValue(answer), { "text/html": "<b>42</b>", "text/plain": "42" });
 * ```
 */
export interface Displayable {
  [displaySymbol](): MimeBundle | Promise<MimeBundle>;
}

/** True for a value with a display method of its own, also on a function or a class. */
export function isDisplayable(value: unknown): value is Displayable {
  if ((typeof value !== "object" && typeof value !== "function") || value === null) return false;
  return typeof (value as Partial<Displayable>)[displaySymbol] === "function";
}

const jsonMime = /^application\/(?:json|.*\+json)$/;

/**
 * Brings what a display method returned to what a message may carry: bytes as base64, JSON types as
 * plain JSON, everything else as text. `{ data: bundle }` is accepted for `bundle`.
 */
export function normalizeBundle(returned: unknown): MimeBundle {
  if (typeof returned !== "object" || returned === null) {
    throw new TypeError(`a display method must return a mime bundle, got ${typeof returned}`);
  }
  const inner = (returned as { data?: unknown }).data;
  const isWrapped = typeof inner === "object" && inner !== null && !("text/plain" in returned);
  const bundle: MimeBundle = {};
  for (const [mime, content] of Object.entries(isWrapped ? inner : returned)) {
    if (content === undefined || content === null) continue;
    if (!mime.includes("/")) {
      throw new TypeError(`a display method must return mime types as keys, got '${mime}'`);
    }
    if (content instanceof Uint8Array) bundle[mime] = base64(content);
    else if (jsonMime.test(mime)) bundle[mime] = toJson(content);
    else bundle[mime] = typeof content === "string" ? content : JSON.stringify(toJson(content));
  }
  return bundle;
}

// What the host needs of kernel/display, loaded when the first value that is not a primitive is shown.

/**
 * kernel/display/format.ts exports `formatValue` of this type: any value to a mime bundle with
 * `text/plain` in it. undefined when there is nothing to show (the value is undefined). It never
 * throws: a `[Symbol.for("Jupyter.display")]()` that does becomes its text with the reason.
 * @param value the value to format
 */
export type FormatValue = (
  value: unknown,
) => Promise<MimeBundle | undefined> | MimeBundle | undefined;
