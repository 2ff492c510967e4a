import { escapeHtml } from "./escape.js";
import type { Scale } from "./scale.js";
import type { Trace } from "./traces.js";

/** Where a trace is drawn, in pixels. */
export interface Plot {
  left: number;
  top: number;
  width: number;
  height: number;
  x: Scale;
  y: Scale;
}

const round = (x: number): string => String(Math.round(x * 10) / 10);
const px = (plot: Plot, value: unknown): number => plot.left + plot.x.at(value) * plot.width;
const py = (plot: Plot, value: unknown): number => plot.top + (1 - plot.y.at(value)) * plot.height;

/** At most `limit` of many points, first and last among them. */
function thinned(count: number, limit: number): number[] {
  if (count <= limit) return Array.from({ length: count }, (_, i) => i);
  return Array.from({ length: limit }, (_, i) => Math.round((i * (count - 1)) / (limit - 1)));
}

type Point = [number, number];

/** A trace's points in pixels, apart where one is missing. */
function segmentsOf(plot: Plot, trace: Trace): Point[][] {
  const segments: Point[][] = [[]];
  for (const i of thinned(trace.y.length, 2000)) {
    const point: Point = [px(plot, trace.x[i]), py(plot, trace.y[i])];
    const missing = trace.y[i] === null || !point.every(Number.isFinite);
    if (missing) segments.push([]);
    else segments.at(-1)!.push(point);
  }
  return segments.filter((points) => points.length > 0);
}

const pathOf = (points: readonly Point[]): string =>
  points.map(([x, y], i) => `${i === 0 ? "M" : "L"}${round(x)} ${round(y)}`).join("");

/** The outline of a marker around a point. */
function markerOf(symbol: string, [x, y]: Point, size: number): string {
  const r = size / 2;
  const corners = (list: readonly Point[]) =>
    `<path d="${pathOf(list.map(([dx, dy]): Point => [x + dx * r, y + dy * r]))}z"/>`;
  if (symbol.startsWith("triangle-up"))
    return corners([
      [0, -1.2],
      [1.1, 0.8],
      [-1.1, 0.8],
    ]);
  if (symbol.startsWith("triangle-down"))
    return corners([
      [0, 1.2],
      [1.1, -0.8],
      [-1.1, -0.8],
    ]);
  if (symbol.startsWith("square"))
    return corners([
      [-1, -1],
      [1, -1],
      [1, 1],
      [-1, 1],
    ]);
  if (symbol.startsWith("diamond"))
    return corners([
      [0, -1.3],
      [1.3, 0],
      [0, 1.3],
      [-1.3, 0],
    ]);
  if (symbol.startsWith("x") || symbol.startsWith("cross")) {
    const arms = symbol.startsWith("x")
      ? `M${round(x - r)} ${round(y - r)}L${round(x + r)} ${round(y + r)}M${round(x - r)} ${round(y + r)}L${round(x + r)} ${round(y - r)}`
      : `M${round(x - r)} ${round(y)}H${round(x + r)}M${round(x)} ${round(y - r)}V${round(y + r)}`;
    return `<path d="${arms}" fill="none" stroke="currentColor" stroke-width="2"/>`;
  }
  return `<circle cx="${round(x)}" cy="${round(y)}" r="${round(r)}"/>`;
}

/** A line with its markers; `before` is the trace that an area may reach to. */
function scatter(plot: Plot, trace: Trace, before: Trace | undefined): string {
  const drawn = segmentsOf(plot, trace);
  const color = escapeHtml(trace.color);
  const zero = round(py(plot, 0));
  const parts: string[] = [];
  const area = (d: string) => {
    const given = trace.fillColor === undefined ? undefined : escapeHtml(trace.fillColor);
    const look = given === undefined ? `fill="${color}" opacity=".25"` : `fill="${given}"`;
    if (d !== "") parts.push(`<path d="${d}" ${look}/>`);
  };
  if (trace.fill === "zero" && zero !== "NaN") {
    area(drawn.map((points) => `${pathOf(points)}V${zero}H${round(points[0]![0])}z`).join(""));
  }
  if (trace.fill === "next" && before) {
    const back = segmentsOf(plot, before).flat().reverse();
    const there = drawn.flat();
    if (there.length > 0 && back.length > 0) {
      area(`${pathOf(there)}${pathOf(back).replace("M", "L")}z`);
    }
  }
  if (trace.mode.includes("lines") && trace.width > 0) {
    const d = drawn.map(pathOf).join("");
    const dash = trace.dash === "" ? "" : ` stroke-dasharray="${trace.dash}"`;
    parts.push(
      `<path d="${d}" fill="none" stroke="${color}" stroke-width="${trace.width}"${dash}/>`,
    );
  }
  if (trace.mode.includes("markers")) {
    const dots = drawn.flat().map((point) => markerOf(trace.symbol, point, trace.size));
    parts.push(`<g fill="${color}" color="${color}">${dots.join("")}</g>`);
  }
  return parts.join("");
}

function bars(plot: Plot, trace: Trace, place: { index: number; of: number }): string {
  const xs = trace.x.map((x) => px(plot, x)).filter(Number.isFinite);
  const sorted = [...new Set(xs)].sort((a, b) => a - b);
  const gaps = sorted.slice(1).map((x, i) => x - sorted[i]!);
  const slot = Math.min(150, Math.min(plot.width / Math.max(1, sorted.length), ...gaps) * 0.8);
  const width = slot / place.of;
  const rects = trace.y.map((value, i) => {
    const x = px(plot, trace.x[i]) - slot / 2 + place.index * width;
    const [a, b] = [py(plot, trace.base[i] ?? 0), py(plot, (trace.base[i] ?? 0) + Number(value))];
    if (![x, a, b].every(Number.isFinite)) return "";
    return `<rect x="${round(x)}" y="${round(Math.min(a, b))}" width="${round(width)}" height="${round(Math.abs(a - b))}"/>`;
  });
  return `<g fill="${escapeHtml(trace.color)}">${rects.join("")}</g>`;
}

/** The cells of a heat map, one path per colour. Cells lie where the axes say, whichever way they run. */
function heat(plot: Plot, trace: Trace): string {
  const rows = thinned(trace.z.length, 80);
  const columns = thinned(Math.max(...trace.z.map((row) => row.length), 0), 160);
  const [w, h] = [plot.width / columns.length, plot.height / rows.length];
  const rightwards = plot.x.at(trace.x.at(-1)) >= plot.x.at(trace.x[0]);
  const downwards = plot.y.at(trace.y.at(-1)) < plot.y.at(trace.y[0]);
  const paths = new Map<string, string>();
  rows.forEach((row, r) => {
    columns.forEach((column, c) => {
      const value = trace.z[row]?.[column];
      if (value === undefined || !Number.isFinite(value)) return;
      const colour = trace.ramp(value);
      const x = plot.left + (rightwards ? c : columns.length - 1 - c) * w;
      const y = plot.top + (downwards ? r : rows.length - 1 - r) * h;
      const cell = `M${round(x)} ${round(y)}h${round(w)}v${round(h)}h-${round(w)}z`;
      paths.set(colour, (paths.get(colour) ?? "") + cell);
    });
  });
  const drawn = [...paths].map(([colour, d]) => `<path d="${d}" fill="${colour}"/>`);
  return `<g shape-rendering="crispEdges">${drawn.join("")}</g>`;
}

/** A trace's marks as SVG; `place` says which of the bars side by side this is. */
export function marksOf(
  plot: Plot,
  trace: Trace,
  place: { index: number; of: number },
  before?: Trace,
): string {
  if (trace.kind === "bar") return bars(plot, trace, place);
  return trace.kind === "heatmap" ? heat(plot, trace) : scatter(plot, trace, before);
}
