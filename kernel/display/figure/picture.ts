import { escapeHtml } from "../html.js";
import type { FigureLike } from "./figure.js";
import { marksOf, type Plot, type Trace } from "./marks.js";
import { scaleOf } from "./scale.js";

// plotly's own sequence, so that coming alive changes no colour.
const colors = [
  "#1f77b4",
  "#ff7f0e",
  "#2ca02c",
  "#d62728",
  "#9467bd",
  "#8c564b",
  "#e377c2",
  "#7f7f7f",
];
// Grey of middle brightness reads on white and on black, also where the picture is an image of its own.
const ink = "#808080";

const listOf = (value: unknown): unknown[] | undefined =>
  Array.isArray(value)
    ? value
    : ArrayBuffer.isView(value)
      ? Array.from(value as unknown as ArrayLike<unknown>)
      : undefined;

const textOf = (value: unknown): string =>
  typeof value === "string"
    ? value
    : typeof (value as { text?: unknown } | undefined)?.text === "string"
      ? (value as { text: string }).text
      : "";

/** A histogram's bars: about as many bins as the square root of the number of values. */
function binned(values: number[]): { x: number[]; y: number[] } {
  const [from, to] = [
    values.reduce((a, b) => Math.min(a, b), Infinity),
    values.reduce((a, b) => Math.max(a, b), -Infinity),
  ];
  const count = Math.max(1, Math.min(60, Math.ceil(Math.sqrt(values.length))));
  const step = (to - from) / count || 1;
  const y = new Array<number>(count).fill(0);
  for (const value of values) y[Math.min(count - 1, Math.floor((value - from) / step))]!++;
  return { x: y.map((_, i) => from + (i + 0.5) * step), y };
}

/** A trace that the static picture can draw; undefined for any other kind. */
function readTrace(raw: Record<string, unknown>, index: number): Trace | undefined {
  const type = String(raw["type"] ?? "scatter");
  const marker = (raw["marker"] ?? {}) as Record<string, unknown>;
  const line = (raw["line"] ?? {}) as Record<string, unknown>;
  const own = [line["color"], marker["color"]].find((c) => typeof c === "string");
  const y = listOf(raw["y"]);
  const x = listOf(raw["x"]);
  const trace: Trace = {
    kind: "scatter",
    name: typeof raw["name"] === "string" ? raw["name"] : `trace ${index}`,
    color: (own as string | undefined) ?? colors[index % colors.length]!,
    x: x ?? (y ?? []).map((_, i) => i),
    y: y ?? [],
    z: [],
    mode:
      typeof raw["mode"] === "string"
        ? raw["mode"]
        : (y?.length ?? 0) < 20
          ? "lines+markers"
          : "lines",
    base: [],
    fill: typeof raw["fill"] === "string" && raw["fill"].startsWith("tozero"),
  };
  if (raw["orientation"] === "h") return undefined;
  if (type === "scatter" || type === "scattergl") return y === undefined ? undefined : trace;
  if (type === "bar") return y === undefined ? undefined : { ...trace, kind: "bar" };
  if (type === "histogram") {
    const numbers = x?.map(Number).filter((v) => Number.isFinite(v)) ?? [];
    return numbers.length === 0 ? undefined : { ...trace, kind: "bar", ...binned(numbers) };
  }
  if (type === "heatmap") {
    const z = listOf(raw["z"])?.map((row) => (listOf(row) ?? []).map(Number));
    if (z === undefined || z.length === 0) return undefined;
    const wide = Math.max(...z.map((row) => row.length));
    return {
      ...trace,
      kind: "heatmap",
      z,
      x: x ?? Array.from({ length: wide }, (_, i) => i),
      y: y ?? z.map((_, i) => i),
    };
  }
  return undefined;
}

/** Where outer cells or bars end, half of one beyond their middles; names and dates stay as they are. */
function cellEdges(middles: unknown[]): unknown[] {
  if (middles.some((value) => typeof value !== "number")) return middles;
  const sorted = [...new Set(middles as number[])].sort((a, b) => a - b);
  const gaps = sorted.slice(1).map((x, i) => x - sorted[i]!);
  const half = gaps.length > 0 ? Math.min(...gaps) / 2 : 0.5;
  return [(sorted[0] ?? 0) - half, (sorted.at(-1) ?? 0) + half];
}

/** Puts bars of one place above each other. */
function stack(traces: Trace[]): void {
  const tops = new Map<string, number>();
  for (const trace of traces.filter((t) => t.kind === "bar")) {
    trace.base = trace.y.map((value, i) => {
      const key = String(trace.x[i]);
      const base = tops.get(key) ?? 0;
      tops.set(key, base + Number(value));
      return base;
    });
  }
}

function axes(plot: Plot, layout: Record<string, unknown>): string {
  const { left, top, width, height } = plot;
  const parts: string[] = [];
  for (const { at, label } of plot.y.ticks) {
    const y = (top + (1 - at) * height).toFixed(1);
    parts.push(`<path d="M${left} ${y}h${width}" stroke="${ink}" opacity=".25"/>`);
    parts.push(
      `<text x="${left - 6}" y="${y}" dy=".32em" text-anchor="end">${escapeHtml(label)}</text>`,
    );
  }
  for (const { at, label } of plot.x.ticks) {
    const x = (left + at * width).toFixed(1);
    const short = label.length > 14 ? `${label.slice(0, 13)}…` : label;
    parts.push(
      `<text x="${x}" y="${top + height + 16}" text-anchor="${at > 0.97 && short.length > 6 ? "end" : "middle"}">${escapeHtml(short)}</text>`,
    );
  }
  parts.push(`<path d="M${left} ${top + height}h${width}" stroke="${ink}"/>`);
  const title = (axis: string): string =>
    escapeHtml(textOf(((layout[axis] ?? {}) as { title?: unknown }).title));
  parts.push(
    `<text x="${left + width / 2}" y="${top + height + 36}" text-anchor="middle">${title("xaxis")}</text>`,
  );
  parts.push(
    `<text transform="translate(14 ${top + height / 2}) rotate(-90)" text-anchor="middle">${title("yaxis")}</text>`,
  );
  return parts.join("");
}

function legend(traces: Trace[], left: number, top: number): string {
  return traces
    .slice(0, 14)
    .map((trace, i) => {
      const y = top + 8 + i * 18;
      const name = trace.name.length > 18 ? `${trace.name.slice(0, 17)}…` : trace.name;
      return `<rect x="${left}" y="${y - 5}" width="10" height="10" fill="${escapeHtml(trace.color)}"/><text x="${left + 16}" y="${y}" dy=".32em">${escapeHtml(name)}</text>`;
    })
    .join("");
}

/**
 * A figure as a plain SVG: lines, points, bars, histograms and heat maps on one pair of axes.
 * undefined where it holds any other kind of trace, since half a figure would mislead.
 */
export function figurePicture(figure: FigureLike): string | undefined {
  const { layout } = figure;
  const visible = figure.data.filter(
    (raw) => raw["visible"] !== false && raw["visible"] !== "legendonly",
  );
  const read = visible.map(readTrace);
  const traces = read.filter((trace) => trace !== undefined);
  const manyAxes = visible.some((raw) => raw["xaxis"] !== undefined && raw["xaxis"] !== "x");
  if (traces.length === 0 || traces.length < read.length || manyAxes) return undefined;
  const size = (name: "width" | "height", usual: number): number => {
    const given = layout[name];
    return typeof given === "number" && given >= 100 && given <= 4000 ? given : usual;
  };
  const [width, height] = [size("width", 700), size("height", 360)];
  const bars = traces.filter((trace) => trace.kind === "bar");
  const stacked = layout["barmode"] === "stack" || layout["barmode"] === "relative";
  if (stacked) stack(traces);
  const named = traces.length > 1 && layout["showlegend"] !== false;
  const heat = traces.some((trace) => trace.kind === "heatmap");
  const axis = (name: string): Record<string, unknown> =>
    (layout[name] ?? {}) as Record<string, unknown>;
  const tops = traces.flatMap((t) => {
    if (t.kind === "bar") return t.y.map((v, i) => Number(v) + (t.base[i] ?? 0));
    return t.kind === "heatmap" ? cellEdges(t.y) : t.y;
  });
  const plot: Plot = {
    left: 64,
    top: textOf(layout["title"]) === "" ? 16 : 40,
    width: width - 64 - (named ? 160 : 20),
    height: height - (textOf(layout["title"]) === "" ? 16 : 40) - 48,
    x: scaleOf(
      traces.flatMap((t) => (t.kind === "scatter" ? t.x : cellEdges(t.x))),
      axis("xaxis"),
      { tight: true },
    ),
    y: scaleOf(tops, axis("yaxis"), {
      zero: bars.length > 0 || traces.some((t) => t.fill),
      tight: heat,
    }),
  };
  const of = stacked || layout["barmode"] === "overlay" ? 1 : Math.max(1, bars.length);
  const order = ["heatmap", "bar", "scatter"];
  const marks = traces
    .toSorted((a, b) => order.indexOf(a.kind) - order.indexOf(b.kind))
    .map((t) => marksOf(plot, t, { index: of === 1 ? 0 : Math.max(0, bars.indexOf(t)), of }));
  const title = textOf(layout["title"]);
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" ` +
    `style="max-width:100%;height:auto" font-family="sans-serif" font-size="12" fill="${ink}" role="img" aria-label="${escapeHtml(title)}">` +
    `<text x="${width / 2}" y="24" text-anchor="middle" font-size="16">${escapeHtml(title)}</text>` +
    `${axes(plot, layout)}${marks.join("")}${named ? legend(traces, width - 150, plot.top) : ""}</svg>`
  );
}
