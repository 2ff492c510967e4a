import { axis, type AxisTick } from "./axis.js";
import { escapeHtml } from "./escape.js";
import { type FigureLike, textOf } from "./figure-like.js";
import { neutral } from "./grey.js";
import { formatNumber, scaleOf } from "./scale.js";
import { marksOf, type Plot } from "./marks.js";
import { rampSteps } from "./ramp.js";
import { readTrace, type Trace } from "./traces.js";

/** Cuts a text that would run into its neighbour. */
const cut = (text: string, most: number) =>
  text.length > most ? `${text.slice(0, most - 1)}…` : text;

/** The grid, the numbers on the axes, and what the axes are called. */
function axes(plot: Plot, layout: Record<string, unknown>, ink: string): string {
  const { left, top, width, height } = plot;
  const title = (axis: string): string =>
    escapeHtml(textOf(((layout[axis] ?? {}) as { title?: unknown }).title));
  const rows = plot.y.ticks.map(({ at, label }) => ({ at: top + (1 - at) * height, label }));
  const columns = plot.x.ticks.map(({ at, label }): AxisTick => {
    const short = cut(label, 14);
    const anchor = at > 0.97 && short.length > 6 ? "end" : "middle";
    return { at: left + at * width, label: short, anchor };
  });
  return (
    axis("left", left - 6, rows, { grid: [left, left + width] }) +
    axis("below", top + height + 16, columns) +
    `<path d="M${left} ${top + height}h${width}" stroke="${ink}"/>` +
    `<text x="${left + width / 2}" y="${top + height + 36}" text-anchor="middle">${title("xaxis")}</text>` +
    `<text transform="translate(14 ${top + height / 2}) rotate(-90)" text-anchor="middle">${title("yaxis")}</text>`
  );
}

/** What each colour stands for. */
function legend(traces: readonly Trace[], left: number, top: number): string {
  return traces
    .slice(0, 14)
    .map((trace, i) => {
      const y = top + 8 + i * 18;
      const colour = escapeHtml(trace.color);
      const lines = trace.kind === "scatter" && !trace.mode.includes("markers");
      const dash = trace.dash === "" ? "" : ` stroke-dasharray="${trace.dash}"`;
      const key = lines
        ? `<path d="M${left - 4} ${y}h16" stroke="${colour}" stroke-width="2.5"${dash}/>`
        : `<rect x="${left}" y="${y - 5}" width="10" height="10" rx="2" fill="${colour}"/>`;
      return `${key}<text x="${left + 18}" y="${y}" dy=".32em">${escapeHtml(cut(trace.name, 19))}</text>`;
    })
    .join("");
}

/** A heat map's colours with their ends. */
function colourBar(trace: Trace, left: number, plot: Plot, ink: string): string {
  const [low, high] = trace.ends;
  const height = plot.height - 24;
  const step = height / rampSteps;
  const top = plot.top + 20;
  const cells = Array.from({ length: rampSteps }, (_, i) => {
    const colour = trace.ramp(high - (i / (rampSteps - 1)) * (high - low));
    return `<rect x="${left}" y="${(top + i * step).toFixed(1)}" width="12" height="${(step + 0.5).toFixed(1)}" fill="${colour}"/>`;
  });
  const marks = [0, 0.5, 1].map((share) => {
    const text = formatNumber(Number((high - share * (high - low)).toPrecision(3)));
    return `<text x="${left + 18}" y="${(top + share * height).toFixed(1)}" dy=".32em">${text}</text>`;
  });
  return (
    `<text x="${left}" y="${plot.top + 8}">${escapeHtml(cut(trace.barTitle ?? "", 14))}</text>` +
    `${cells.join("")}<rect x="${left}" y="${top}" width="12" height="${height.toFixed(1)}" fill="none" stroke="${ink}" opacity=".4"/>${marks.join("")}`
  );
}

const isColour = (value: unknown): value is string =>
  typeof value === "string" && /^(?:#[0-9a-f]{3,8}|[a-z]+|rgba?\([\d., %]+\))$/i.test(value);

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

/**
 * A figure as a plain SVG: lines, points, bars, histograms and heat maps on one pair of axes, with
 * their colour scales, legend, theme and a text alternative. undefined where it holds any other kind of
 * trace, since half a figure would mislead.
 */
export function figurePicture(figure: FigureLike): string | undefined {
  const { layout } = figure;
  const visible = figure.data.filter(
    (raw) => raw["visible"] !== false && raw["visible"] !== "legendonly",
  );
  const read = visible.map((raw, i) => readTrace(raw, i, layout));
  const traces = read.filter((trace) => trace !== undefined);
  const manyAxes = visible.some((raw) => raw["xaxis"] !== undefined && raw["xaxis"] !== "x");
  if (traces.length === 0 || traces.length < read.length || manyAxes) return undefined;
  const size = (name: "width" | "height", usual: number): number => {
    const given = layout[name];
    return typeof given === "number" && given >= 100 && given <= 4000 ? given : usual;
  };
  const [width, height] = [size("width", 700), size("height", 360)];
  const title = textOf(layout["title"]);
  const bars = traces.filter((trace) => trace.kind === "bar");
  const stacked = layout["barmode"] === "stack" || layout["barmode"] === "relative";
  if (stacked) stack(traces);
  const bar = traces.find((trace) => trace.barTitle !== undefined);
  const told = traces.filter((trace) => trace.inLegend && trace.kind !== "heatmap");
  const named = !bar && told.length > 1 && layout["showlegend"] !== false;
  const top = title === "" ? 16 : 40;
  const plot: Plot = {
    ...{ left: 64, top, height: height - top - 48 },
    width: width - 64 - (named ? 170 : bar ? 100 : 20),
    ...scales(traces, layout, bars),
  };
  const of = stacked || layout["barmode"] === "overlay" ? 1 : Math.max(1, bars.length);
  const order = ["heatmap", "bar", "scatter"];
  const marks = traces
    .toSorted((a, b) => order.indexOf(a.kind) - order.indexOf(b.kind))
    .map((t) => {
      const index = of === 1 ? 0 : Math.max(0, bars.indexOf(t));
      return marksOf(plot, t, { index, of }, traces[traces.indexOf(t) - 1]);
    });
  const { color } = (layout["font"] ?? {}) as { color?: unknown };
  const ink = isColour(color) ? color : neutral;
  const paper = layout["paper_bgcolor"];
  const ground = isColour(paper)
    ? `<rect width="${width}" height="${height}" fill="${paper}"/>`
    : "";
  const { description } = (layout["meta"] ?? {}) as { description?: unknown };
  const words = typeof description === "string" ? `<desc>${escapeHtml(description)}</desc>` : "";
  const beside = width - (named ? 156 : 84);
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" ` +
    `style="max-width:100%;height:auto" font-family="sans-serif" font-size="12" fill="${ink}" role="img" aria-label="${escapeHtml(title)}">` +
    `${words}${ground}<text x="${width / 2}" y="24" text-anchor="middle" font-size="16">${escapeHtml(title)}</text>` +
    `${axes(plot, layout, ink)}${marks.join("")}` +
    `${named ? legend(told, beside, plot.top) : ""}${bar ? colourBar(bar, beside, plot, ink) : ""}</svg>`
  );
}

/** The scales that all traces share. */
function scales(
  traces: readonly Trace[],
  layout: Record<string, unknown>,
  bars: readonly Trace[],
): Pick<Plot, "x" | "y"> {
  const axis = (name: string) => (layout[name] ?? {}) as Record<string, unknown>;
  const heat = traces.some((trace) => trace.kind === "heatmap");
  const tops = traces.flatMap((t) => {
    if (t.kind === "bar") return t.y.map((v, i) => Number(v) + (t.base[i] ?? 0));
    return t.kind === "heatmap" ? cellEdges(t.y) : t.y;
  });
  const sides = traces.flatMap((t) => (t.kind === "scatter" ? t.x : cellEdges(t.x)));
  const zero = bars.length > 0 || traces.some((t) => t.fill === "zero");
  return {
    x: scaleOf(sides, axis("xaxis"), { tight: true }),
    y: scaleOf(tops, axis("yaxis"), { zero, tight: heat }),
  };
}
