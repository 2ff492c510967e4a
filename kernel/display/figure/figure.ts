import { figureHtml, libraryHtml } from "../../../common/picture/figure-html.js";
import type { FigureLike } from "../../../common/picture/figure-like.js";
import { figurePicture } from "../../../common/picture/picture.js";
import { currentHost, type KernelHost, type MimeBundle } from "../../host/host.js";
import { escapeHtml } from "../html.js";
import { type Json, toJson } from "../json.js";

const carriers = new WeakMap<KernelHost, { cell: string | undefined; run: string }>();

/**
 * The library for one figure's HTML, or nothing where another figure of the notebook carries it
 * already: the first cell of a session that shows a figure does, once each time it runs.
 */
function carriedLibrary(): string {
  const host = currentHost();
  const cell = host?.cell();
  if (host === undefined || cell === undefined) return libraryHtml();
  const carrier = carriers.get(host);
  const again = carrier?.cell !== undefined && carrier.cell === cell.cellId;
  if (carrier !== undefined && (!again || carrier.run === cell.id)) return "";
  carriers.set(host, { cell: cell.cellId, run: cell.id });
  return libraryHtml();
}

function isPlain(value: unknown): value is Record<string, unknown> {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null || "type" in value;
}

/** True for `{ data: [traces], layout: {} }`. */
export function isFigure(value: object): value is FigureLike {
  const { data, layout } = value as Partial<FigureLike>;
  return Array.isArray(data) && isPlain(layout) && data.every(isPlain);
}

/** One line for a figure's title and each trace, for where nothing can be drawn. */
function figureText(figure: FigureLike): string {
  const { title } = figure.layout;
  const name = typeof title === "string" ? title : (title as { text?: unknown } | undefined)?.text;
  const traces = figure.data.map((trace) => {
    const points = [trace["y"], trace["z"], trace["x"], trace["values"]].find(
      (v) => Array.isArray(v) || ArrayBuffer.isView(v),
    ) as ArrayLike<unknown> | undefined;
    const label = typeof trace["name"] === "string" ? ` '${trace["name"]}'` : "";
    const count =
      points === undefined ? "" : `, ${points.length} ${trace["z"] === points ? "rows" : "points"}`;
    return `  ${String(trace["type"] ?? "scatter")}${label}${count}`;
  });
  return [`Figure${typeof name === "string" ? `: ${name}` : ""}`, ...traces].join("\n");
}

/** Titles as plotly has wanted them since its third version: a bare text becomes `{ text }`. */
function withTitles(layout: Record<string, unknown>): Record<string, unknown> {
  const entries = Object.entries(layout).map(([key, value]) => {
    if (key === "title" && typeof value === "string") return [key, { text: value }];
    const isAxis = /^[xyz]axis\d*$/.test(key) && typeof value === "object" && value !== null;
    return [key, isAxis ? withTitles(value as Record<string, unknown>) : value];
  });
  return Object.fromEntries(entries) as Record<string, unknown>;
}

/**
 * A figure in every form a front end may know: plotly's own JSON, HTML whose program replaces a
 * static picture, that picture, and text.
 */
export function figureBundle(figure: FigureLike): MimeBundle {
  const { data, layout, config, frames } = figure;
  const json = toJson({ data, layout: withTitles(layout), config, frames }) as {
    [key: string]: Json;
  };
  const picture = figurePicture(figure);
  const bundle: MimeBundle = {
    "application/vnd.plotly.v1+json": json,
    "text/html": figureHtml(
      json,
      picture ?? `<pre>${escapeHtml(figureText(figure))}</pre>`,
      carriedLibrary(),
    ),
    "text/plain": figureText(figure),
  };
  return picture === undefined ? bundle : { ...bundle, "image/svg+xml": picture };
}
