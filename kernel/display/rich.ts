import type { MimeBundle } from "../host/host.js";
import {
  base64,
  type Displayable,
  displaySymbol,
  type ImageMime,
  sniffImage,
} from "./displayable.js";
import { escapeHtml } from "./html.js";
import { toJson } from "./json.js";

function summaryOf(bundle: MimeBundle): string {
  const [[mime, content] = ["", ""]] = Object.entries(bundle);
  return `[${mime}, ${typeof content === "string" ? `${content.length} characters` : "an object"}]`;
}

/**
 * A value that is shown as the mime types it holds.
 */
export class Rich implements Displayable {
  readonly bundle: MimeBundle;

  /** @param bundle the content for each mime type */
  constructor(bundle: MimeBundle) {
    // A terminal, or a page that knows none of the types, still says what is there.
    this.bundle = "text/plain" in bundle ? bundle : { ...bundle, "text/plain": summaryOf(bundle) };
  }

  [displaySymbol](): MimeBundle {
    return this.bundle;
  }
}

/**
 * Content for any mime type: text, bytes for binary types, an object for JSON types.
 *
 * @param mime the mime type, such as `text/csv`
 * @param content text, bytes (they become base64), or an object for a JSON type
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { raw } from "arpo-lab/kernel";
 *
 * assert.equal(raw("text/csv", "a,b").bundle["text/csv"], "a,b");
 * assert.equal(raw("application/pdf", Uint8Array.of(37)).bundle["application/pdf"], "JQ==");
 * ```
 */
export function raw(mime: string, content: unknown): Rich {
  if (!(content instanceof Uint8Array)) return new Rich({ [mime]: content });
  return new Rich({ [mime]: base64(content), "text/plain": `[${mime}, ${content.length} bytes]` });
}

/** A value in a template: HTML made here stays HTML, everything else is escaped. */
function interpolate(value: unknown): string {
  if (Array.isArray(value)) return value.map(interpolate).join("");
  const inner =
    value instanceof Rich
      ? (value.bundle["text/html"] ?? value.bundle["image/svg+xml"])
      : undefined;
  return typeof inner === "string" ? inner : escapeHtml(String(value));
}

/**
 * HTML to show, from text or as a template whose values are escaped.
 *
 * @param text a string that is shown as HTML, or a template
 * @param values the values in the template; each is escaped unless `html` or `svg` made it
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { html } from "arpo-lab/kernel";
 *
 * const name = "<script>";
 * assert.equal(html`<b>${name}</b>`.bundle["text/html"], "<b>&lt;script&gt;</b>");
 * ```
 */
export function html(text: string | TemplateStringsArray, ...values: unknown[]): Rich {
  if (typeof text === "string") return raw("text/html", text);
  return raw(
    "text/html",
    text.map((part, i) => (i === 0 ? part : interpolate(values[i - 1]) + part)).join(""),
  );
}

/**
 * Markdown to show.
 *
 * @param text Markdown source
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { markdown } from "arpo-lab/kernel";
 *
 * assert.equal(markdown("**bold**").bundle["text/markdown"], "**bold**");
 * ```
 */
export function markdown(text: string): Rich {
  return new Rich({ "text/markdown": text, "text/plain": text });
}

/**
 * LaTeX to show; mathematics without delimiters gets them.
 *
 * @param text LaTeX source, with or without `$`
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { latex } from "arpo-lab/kernel";
 *
 * assert.equal(latex("e^x").bundle["text/latex"], "$$e^x$$");
 * ```
 */
export function latex(text: string): Rich {
  const delimited = /\$|\\\(|\\\[|\\begin\{/.test(text);
  return new Rich({ "text/latex": delimited ? text : `$$${text}$$`, "text/plain": text });
}

/**
 * An SVG drawing to show.
 *
 * @param text an `<svg>` element
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { svg } from "arpo-lab/kernel";
 *
 * const dot = svg('<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><circle r="4"/></svg>');
 * assert.match(String(dot.bundle["image/svg+xml"]), /^<svg/);
 * ```
 */
export function svg(text: string): Rich {
  return raw("image/svg+xml", text);
}

/**
 * A JavaScript program that the page runs.
 *
 * @param text JavaScript source
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { javascript } from "arpo-lab/kernel";
 *
 * assert.ok("application/javascript" in javascript("console.log('in the page')").bundle);
 * ```
 */
export function javascript(text: string): Rich {
  return raw("application/javascript", text);
}

/**
 * A value to show as a tree of JSON that opens and closes.
 *
 * @param value any value that does not contain itself; what JSON cannot hold becomes null
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { json } from "arpo-lab/kernel";
 *
 * assert.deepEqual(json({ n: 1 }).bundle["application/json"], { n: 1 });
 * ```
 */
export function json(value: unknown): Rich {
  const plain = toJson(value);
  return new Rich({ "application/json": plain, "text/plain": JSON.stringify(plain, null, 2) });
}

/**
 * Plain text to show as it is, without quotes.
 *
 * @param content the text to show, with its line breaks
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { text } from "arpo-lab/kernel";
 *
 * assert.deepEqual(text("no quotes").bundle, { "text/plain": "no quotes" });
 * ```
 */
export function text(content: string): Rich {
  return raw("text/plain", content);
}

/**
 * A picture to show: PNG, JPEG, GIF or WebP, recognised by its bytes unless the type is given.
 *
 * @param bytes the content of the picture's file
 * @param mime its mime type; recognised if left out
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { image } from "arpo-lab/kernel";
 *
 * const gif = Buffer.from("R0lGODlhAQABAAAAACw=", "base64");
 * assert.equal(image(gif).bundle["image/gif"], "R0lGODlhAQABAAAAACw=");
 * assert.throws(() => image(Uint8Array.of(1, 2)), /must be PNG, JPEG, GIF or WebP/);
 * ```
 */
export function image(bytes: Uint8Array, mime?: ImageMime): Rich {
  const type = mime ?? sniffImage(bytes);
  if (type === undefined) {
    throw new TypeError(
      `Cannot show an image: the bytes must be PNG, JPEG, GIF or WebP, got ${bytes.length} bytes of something else`,
    );
  }
  return new Rich({ [type]: base64(bytes), "text/plain": `[${type}, ${bytes.length} bytes]` });
}
