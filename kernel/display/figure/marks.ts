import { escapeHtml } from "../html.js";
import type { Scale } from "./scale.js";

/** A trace as far as a static picture draws it. */
export interface Trace {
  kind: "scatter" | "bar" | "heatmap";
  name: string;
  color: string;
  x: unknown[];
  y: unknown[];
  z: number[][];
  mode: string;
  /** Bars one above the other start here. */
  base: number[];
  fill: boolean;
}

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

function scatter(plot: Plot, trace: Trace): string {
  const segments: [number, number][][] = [[]];
  for (const i of thinned(trace.y.length, 2000)) {
    const point: [number, number] = [px(plot, trace.x[i]), py(plot, trace.y[i])];
    const missing = trace.y[i] === null || !point.every(Number.isFinite);
    if (missing) segments.push([]);
    else segments.at(-1)!.push(point);
  }
  const pathOf = (points: [number, number][]): string =>
    points.map(([x, y], i) => `${i === 0 ? "M" : "L"}${round(x)} ${round(y)}`).join("");
  const drawn = segments.filter((points) => points.length > 0);
  const color = escapeHtml(trace.color);
  const zero = round(py(plot, 0));
  const parts: string[] = [];
  if (trace.fill && zero !== "NaN") {
    const areas = drawn.map((points) => `${pathOf(points)}V${zero}H${round(points[0]![0])}z`);
    parts.push(`<path d="${areas.join("")}" fill="${color}" opacity=".25"/>`);
  }
  if (trace.mode.includes("lines")) {
    const d = drawn.map(pathOf).join("");
    parts.push(`<path d="${d}" fill="none" stroke="${color}" stroke-width="2"/>`);
  }
  if (trace.mode.includes("markers")) {
    const dots = drawn.flat().map(([x, y]) => `<circle cx="${round(x)}" cy="${round(y)}" r="3"/>`);
    parts.push(`<g fill="${color}">${dots.join("")}</g>`);
  }
  return parts.join("");
}

function bars(plot: Plot, trace: Trace, place: { index: number; of: number }): string {
  const xs = trace.x.map((x) => px(plot, x)).filter(Number.isFinite);
  const sorted = [...new Set(xs)].sort((a, b) => a - b);
  const gaps = sorted.slice(1).map((x, i) => x - sorted[i]!);
  const slot = Math.min(plot.width / Math.max(1, sorted.length), ...gaps) * 0.8;
  const width = slot / place.of;
  const rects = trace.y.map((value, i) => {
    const x = px(plot, trace.x[i]) - slot / 2 + place.index * width;
    const [a, b] = [py(plot, trace.base[i] ?? 0), py(plot, (trace.base[i] ?? 0) + Number(value))];
    if (![x, a, b].every(Number.isFinite)) return "";
    return `<rect x="${round(x)}" y="${round(Math.min(a, b))}" width="${round(width)}" height="${round(Math.abs(a - b))}"/>`;
  });
  return `<g fill="${escapeHtml(trace.color)}">${rects.join("")}</g>`;
}

const viridis = [
  "#440154",
  "#46327e",
  "#365c8d",
  "#277f8e",
  "#1fa187",
  "#4ac16d",
  "#a0da39",
  "#fde725",
];

/** One of the eight colours of a heat map; one path per colour keeps the picture small. */
function heat(plot: Plot, trace: Trace): string {
  const rows = thinned(trace.z.length, 80);
  const columns = thinned(Math.max(...trace.z.map((row) => row.length), 0), 120);
  const values = trace.z.flat().filter((v) => Number.isFinite(v));
  const from = values.reduce((a, b) => Math.min(a, b), Infinity);
  const to = values.reduce((a, b) => Math.max(a, b), -Infinity);
  const [w, h] = [plot.width / columns.length, plot.height / rows.length];
  const paths = viridis.map(() => "");
  rows.forEach((row, r) => {
    columns.forEach((column, c) => {
      const value = trace.z[row]?.[column];
      if (value === undefined || !Number.isFinite(value)) return;
      const level = to > from ? Math.min(7, Math.floor(((value - from) / (to - from)) * 8)) : 4;
      const [x, y] = [plot.left + c * w, plot.top + plot.height - (r + 1) * h];
      paths[level] += `M${round(x)} ${round(y)}h${round(w)}v${round(h)}h-${round(w)}z`;
    });
  });
  return paths.map((d, i) => (d === "" ? "" : `<path d="${d}" fill="${viridis[i]}"/>`)).join("");
}

/** A trace's marks as SVG; `place` says which of the bars side by side this is. */
export function marksOf(plot: Plot, trace: Trace, place: { index: number; of: number }): string {
  if (trace.kind === "bar") return bars(plot, trace, place);
  return trace.kind === "heatmap" ? heat(plot, trace) : scatter(plot, trace);
}
