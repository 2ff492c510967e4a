import type { MimeBundle } from "../host/host.js";
import { base64 } from "./image.js";
import { toJson } from "./json.js";

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
