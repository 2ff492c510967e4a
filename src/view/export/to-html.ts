import { checkArguments } from "../../arguments/check-arguments.js";
import { closedPageMeta } from "../../../picture/closed-page.js";
import { escapeHtml } from "../../../picture/escape.js";
import { figureHtml } from "../../../picture/figure-html.js";
import { type FigureLike, textOf } from "../../../picture/figure-like.js";
import { toSvg } from "./to-svg.js";

/** A view that is HTML by itself: an explorer, a token view, an explanation. */
export interface HtmlView {
  html(): string;
}

/** A view that reads files first: a board. */
interface LaterView {
  html(): Promise<string>;
}

/**
 * A figure or a view as a page of its own: it opens from a file, without a server or a network, and
 * keeps its interaction. A board reads its runs first: `await toHtml(board("runs/x"))`.
 *
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
export function toHtml(value: FigureLike | HtmlView): string;
export function toHtml(value: LaterView): Promise<string>;
export function toHtml(value: FigureLike | HtmlView | LaterView): string | Promise<string> {
  checkArguments("make a page", { value }, { value: "object" });
  if (!("html" in value)) {
    checkArguments("make a page", { value }, { value: { data: "list", layout: "object" } });
  }
  if ("html" in value) {
    const html = value.html();
    const whole = (body: string) => page("arpo-lab", body, { width: viewWidth });
    return typeof html === "string" ? whole(html) : html.then(whole);
  }
  const title = textOf(value.layout["title"]) || "Figure";
  const { description } = (value.layout["meta"] ?? {}) as { description?: unknown };
  const words =
    typeof description === "string" ? `<p class="said">${escapeHtml(description)}</p>` : "";
  const paper = value.layout["paper_bgcolor"];
  return page(title, figureHtml(value, toSvg(value)) + words, {
    paper: typeof paper === "string" ? paper : "",
    width: figureWidth,
  });
}

/** A view has columns beside each other; a figure is as wide as it is. */
const viewWidth = 1500;
const figureWidth = 1100;

function page(
  title: string,
  body: string,
  { paper = "", width }: { paper?: string; width: number },
): string {
  const dark = "@media (prefers-color-scheme:dark){body{background:#17191c;color:#e6e6e6}}";
  const ground = /^#[0-9a-f]{3,8}$/i.test(paper) ? `body{background:${paper}}` : dark;
  return (
    `<!doctype html><html lang="en"><head><meta charset="utf-8">${closedPageMeta}<meta name="viewport" content="width=device-width">` +
    `<title>${escapeHtml(title)}</title><style>body{font:14px/1.5 system-ui,sans-serif;margin:24px auto;max-width:${width}px;padding:0 16px;background:#fff;color:#222}${ground}` +
    `.said{opacity:.75}</style></head><body>${body}</body></html>\n`
  );
}
