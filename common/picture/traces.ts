import { palettes } from "./palette.js";
import { colourRamp, viridis } from "./ramp.js";

/** Where the area under a line ends. */
type Fill = "none" | "zero" | "next";

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
  fill: Fill;
  fillColor?: string;
  width: number;
  dash: string;
  symbol: string;
  size: number;
  /** A heat map's: its ends, its colours, and what they are called. */
  ends: [low: number, high: number];
  ramp: (value: number) => string;
  barTitle?: string;
  inLegend: boolean;
}

/**
 * The colours of a figure that names none, here and where plotly draws it: every kind of colour vision distinguishes
 * them. In plotly's own, red and green are one.
 */
export const usualColours = palettes.auto.series;

const dashes: Record<string, string> = {
  dot: "2 4",
  dash: "7 5",
  longdash: "12 5",
  dashdot: "7 4 2 4",
};

function listOf(value: unknown): unknown[] | undefined {
  if (Array.isArray(value)) return value;
  return ArrayBuffer.isView(value) ? Array.from(value as unknown as ArrayLike<unknown>) : undefined;
}

const objectOf = (value: unknown) => (value ?? {}) as Record<string, unknown>;
const numberOr = (value: unknown, usual: number) => (typeof value === "number" ? value : usual);

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

function fillOf(value: unknown): Fill {
  if (typeof value !== "string") return "none";
  return value.startsWith("tozero") ? "zero" : value.startsWith("tonext") ? "next" : "none";
}

/** A trace that the static picture can draw; undefined for any other kind. */
export function readTrace(
  raw: Record<string, unknown>,
  index: number,
  layout: Record<string, unknown>,
): Trace | undefined {
  const type = String(raw["type"] ?? "scatter");
  const marker = objectOf(raw["marker"]);
  const line = objectOf(raw["line"]);
  const own = [line["color"], marker["color"]].find((c) => typeof c === "string");
  const y = listOf(raw["y"]);
  const x = listOf(raw["x"]);
  const given = listOf(layout["colorway"])?.filter((c) => typeof c === "string");
  const colours = given && given.length > 0 ? given : usualColours;
  const fillColor = raw["fillcolor"];
  const usualMode = (y?.length ?? 0) < 20 ? "lines+markers" : "lines";
  const trace: Trace = {
    kind: "scatter",
    name: typeof raw["name"] === "string" ? raw["name"] : `trace ${index}`,
    color: own ?? colours[index % colours.length]!,
    x: x ?? (y ?? []).map((_, i) => i),
    y: y ?? [],
    z: [],
    mode: typeof raw["mode"] === "string" ? raw["mode"] : usualMode,
    base: [],
    fill: fillOf(raw["fill"]),
    ...(typeof fillColor === "string" ? { fillColor } : {}),
    width: numberOr(line["width"], 2),
    dash: dashes[String(line["dash"])] ?? "",
    symbol: typeof marker["symbol"] === "string" ? marker["symbol"] : "circle",
    size: numberOr(marker["size"], 6),
    ends: [0, 1],
    ramp: () => "",
    inLegend: raw["showlegend"] !== false,
  };
  if (raw["orientation"] === "h") return undefined;
  if (type === "scatter" || type === "scattergl") return y === undefined ? undefined : trace;
  if (type === "bar") return y === undefined ? undefined : { ...trace, kind: "bar" };
  if (type === "histogram") {
    const numbers = x?.map(Number).filter((v) => Number.isFinite(v)) ?? [];
    return numbers.length === 0 ? undefined : { ...trace, kind: "bar", ...binned(numbers) };
  }
  if (type === "heatmap") return heatmap(raw, trace, { x, y });
  return undefined;
}

function heatmap(
  raw: Record<string, unknown>,
  trace: Trace,
  { x, y }: { x?: unknown[]; y?: unknown[] },
): Trace | undefined {
  // What is missing stays missing: Number(null) would be 0.
  const number = (value: unknown) => (typeof value === "number" ? value : NaN);
  const z = listOf(raw["z"])?.map((row) => (listOf(row) ?? []).map(number));
  if (z === undefined || z.length === 0) return undefined;
  const wide = Math.max(...z.map((row) => row.length));
  let [low, high] = [Infinity, -Infinity];
  for (const row of z) {
    for (const value of row) {
      if (Number.isFinite(value)) [low, high] = [Math.min(low, value), Math.max(high, value)];
    }
  }
  const ends: Trace["ends"] = [numberOr(raw["zmin"], low), numberOr(raw["zmax"], high)];
  if (!(ends[0] <= ends[1])) [ends[0], ends[1]] = [0, 1];
  const bar = objectOf(raw["colorbar"])["title"];
  const title = typeof bar === "string" ? bar : objectOf(bar)["text"];
  const stops = raw["colorscale"];
  return {
    ...trace,
    kind: "heatmap",
    z,
    ends,
    ramp: colourRamp(Array.isArray(stops) ? (stops as unknown[]) : viridis, ends),
    ...(raw["showscale"] === false ? {} : { barTitle: typeof title === "string" ? title : "" }),
    x: x ?? Array.from({ length: wide }, (_, i) => i),
    y: y ?? z.map((_, i) => i),
  };
}
