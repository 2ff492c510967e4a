import { checkArguments } from "../../../common/options/check-arguments.js";
import { closedPageMeta } from "../../../common/picture/closed-page.js";
import { escapeHtml } from "../../../common/picture/escape.js";
import { figureHtml } from "../../../common/picture/figure-html.js";
import { type FigureLike, textOf } from "../../../common/picture/figure-like.js";
import { pageGround } from "../../../common/picture/palette.js";
import { formOf, isFigure, type LaterView, type SelfShown } from "./shown.js";
import { toSvg } from "./to-svg.js";

/**
 * A figure, or anything that shows itself in a view, as a page of its own: it opens from a file, without a server or a network, and
 * keeps its interaction. A board reads its runs first: `await toHtml(board("runs/x"))`.
 *
 * @param value a figure, or a value that shows itself
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { passAtKCurve, toHtml } from "arpo-lab/view";
 *
 * const page = toHtml(passAtKCurve({ tiny: [{ n: 2, correct: 1 }] }));
 * assert.match(page, /^<!doctype html>/);
 * assert.doesNotMatch(page, /src="http/);
 * ```
 */
export function toHtml(value: LaterView): Promise<string>;
/** @param value a figure, or a value that shows itself */
export function toHtml(value: FigureLike | SelfShown): string;
/** @param value a figure, or a value that shows itself */
export function toHtml(value: FigureLike | SelfShown | LaterView): string | Promise<string>;
export function toHtml(value: FigureLike | SelfShown | LaterView): string | Promise<string> {
  checkArguments("make a page", { value }, { value: "object" });
  if (!isFigure(value)) {
    const html = "html" in value ? value.html() : formOf(value, "text/html");
    return html instanceof Promise ? html.then(viewPage) : viewPage(html);
  }
  checkArguments("make a page", { value }, { value: { data: "list", layout: "object" } });
  const title = textOf(value.layout["title"]) || "Figure";
  const { description } = (value.layout["meta"] ?? {}) as { description?: unknown };
  const words =
    typeof description === "string" ? `<p class="said">${escapeHtml(description)}</p>` : "";
  const paper = value.layout["paper_bgcolor"];
  const own = formOf(value, "text/html");
  return page(title, (typeof own === "string" ? own : figureHtml(value, toSvg(value))) + words, {
    paper: typeof paper === "string" ? paper : "",
    width: figureWidth,
  });
}

/** A view has columns beside each other; a figure is as wide as it is. */
const viewWidth = 1500;
const figureWidth = 1100;

function viewPage(html: string | undefined): string {
  if (html !== undefined) return page("arpo-lab", html, { width: viewWidth, isView: true });
  throw new TypeError(
    "Cannot make a page: the value must be a figure or show itself in a view, got one that does neither",
  );
}

function page(
  title: string,
  body: string,
  { paper = "", width, isView = false }: { paper?: string; width: number; isView?: boolean },
): string {
  const dark = `@media (prefers-color-scheme:dark){body{background:${pageGround.dark.paper};color:${pageGround.dark.ink}}}`;
  const ground = /^#[0-9a-f]{3,8}$/i.test(paper) ? `body{background:${paper}}` : dark;
  return (
    `<!doctype html><html lang="en"><head><meta charset="utf-8">${closedPageMeta}<meta name="viewport" content="width=device-width">` +
    `<title>${escapeHtml(title)}</title><style>body{font:14px/1.5 system-ui,sans-serif;margin:24px auto;max-width:${width}px;padding:0 16px;background:${pageGround.light.paper};color:${pageGround.light.ink}}${ground}` +
    // A view that is the whole page states in the address what is seen.
    `.said{opacity:.75}</style></head><body${isView ? " data-alone" : ""}>${body}</body></html>\n`
  );
}
