import { numberText } from "../page/words.js";
import { axis, type AxisTick } from "../../../common/picture/axis.js";
import { escapeHtml } from "../../../common/picture/escape.js";
import { roundPlaces } from "../../../common/picture/scale.js";
import { runMark } from "./run-mark.js";

/** One line of a panel. */
export interface PanelCurve {
  /** Place in the runs that are shown. */
  run: number;
  /** What it measures, where a panel shows several things. */
  label: string;
  x: number[];
  y: number[];
  /** 95% confidence interval of the mean over seeds, where several have come to the step. */
  low?: (number | null)[];
  high?: (number | null)[];
  /** Where such a mean can be: the band is cut there. */
  range?: readonly [low: number, high: number];
}

/** The ends of a curve's band, within what its mean can be. */
function bandOf({ low, high, range = [-Infinity, Infinity] }: PanelCurve) {
  const cut = (one: number | null) =>
    one === null ? NaN : Math.max(range[0], Math.min(range[1], one));
  return low && high ? { low: low.map(cut), high: high.map(cut) } : undefined;
}

/** Curves in one picture. */
export interface CurvePanel {
  title: string;
  /** What it means, in a sentence. */
  help: string;
  /** Areas one above the other; only where all curves belong to one run. */
  stacked: boolean;
  labels: string[];
  curves: PanelCurve[];
  /** What a reader asks for first. */
  isFirst?: boolean;
}

/** A panel without news in words: every curve the same at each of several steps. Undefined for any other. */
export function constantWords({ title, curves, stacked }: CurvePanel): string | undefined {
  const isFlat = curves.every(({ x, y }) => x.length > 2 && y.every((value) => value === y[0]));
  const values = new Set(curves.map(({ y }) => y[0]));
  if (stacked || curves.length === 0 || !isFlat || values.size > 1) return undefined;
  return `${title} ${numberText(curves[0]!.y[0], 3)}`;
}

/** How a panel is drawn. */
export interface PanelView {
  width: number;
  height: number;
  from: number;
  to: number;
  /** Colours of the runs, or of the curves where there is one run. */
  colours: readonly string[];
  ink: string;
  /** 0 for none, towards 1 for more. */
  smoothing: number;
  /** The step that is looked at. */
  cursor?: number;
  hidden: readonly number[];
  oneRun: boolean;
  /** What the curves are over. Default: step. */
  axis?: string;
}

/** Where values lie in a panel. */
interface PanelScale {
  x: (step: number) => number;
  y: (value: number) => number;
  ticks: number[];
}

/** A running mean that forgets, corrected for its start. */
export function smoothed(values: readonly number[], amount: number): number[] {
  let sum = 0;
  let weight = 0;
  return values.map((value) => {
    if (Number.isNaN(value)) return NaN;
    sum = amount * sum + (1 - amount) * value;
    weight = amount * weight + (1 - amount);
    return sum / weight;
  });
}

/** The curves of a panel as they are shown: one on top of the other where it is stacked. */
export function shownCurves(panel: CurvePanel, view: PanelView) {
  const curves = panel.curves.filter(({ run }) => !view.hidden.includes(run));
  if (!panel.stacked) return curves.map((curve) => ({ ...curve, base: undefined }));
  const below = new Map<number, number>();
  return curves.map((curve) => {
    const base = curve.x.map((step) => below.get(step) ?? 0);
    const y = curve.y.map((value, i) => value + base[i]!);
    curve.x.forEach((step, i) => below.set(step, y[i]!));
    return { ...curve, y, base };
  });
}

/** The scales of a panel, with round places on the vertical one. */
export function panelScale(panel: CurvePanel, view: PanelView): PanelScale {
  let [low, high] = panel.stacked ? [0, 0] : [Infinity, -Infinity];
  for (const curve of shownCurves(panel, view)) {
    const { low: below = [], high: above = [] } = bandOf(curve) ?? {};
    for (const values of [curve.y, below, above]) {
      for (const value of values) {
        if (!Number.isFinite(value)) continue;
        [low, high] = [Math.min(low, value), Math.max(high, value)];
      }
    }
  }
  if (!(low <= high)) [low, high] = [0, 1];
  if (low === high)
    [low, high] = low === 0 ? [0, 1] : [low - Math.abs(low) / 10, high + Math.abs(high) / 10];
  const capacity = (high - low) / 20;
  const [bottom, top] = [panel.stacked || low === 0 ? low : low - capacity, high + capacity];
  const [left, right, up, down] = [46, 12, 8, 22];
  const span = view.to > view.from ? view.to - view.from : 1;
  const wide = view.width - left - right;
  const x = (at: number) =>
    view.to > view.from ? left + ((at - view.from) / span) * wide : left + wide / 2;
  const y = (value: number) =>
    up + (1 - (value - bottom) / (top - bottom)) * (view.height - up - down);
  return { x, y, ticks: roundPlaces(bottom, top) };
}

/** Where a list has numbers, one after the other: from a place to the one behind it. */
function whole(values: readonly number[]): [from: number, to: number][] {
  const found: [number, number][] = [];
  values.forEach((value, i) => {
    if (!Number.isFinite(value)) return;
    const last = found.at(-1);
    if (last?.[1] === i) last[1] = i + 1;
    else found.push([i, i + 1]);
  });
  return found;
}

/** A panel as SVG: curves with their confidence bands over the steps. */
export function drawPanel(panel: CurvePanel, view: PanelView): string {
  const { x, y, ticks } = panelScale(panel, view);
  const at = (value: number) => value.toFixed(1);
  const [left, right] = [x(view.from), x(view.to)];
  const middle = Math.round((view.from + view.to) / 2);
  const steps = [...new Set([view.from, middle, view.to])].map((step): AxisTick => {
    const anchor =
      view.from === view.to || step === middle ? "middle" : step === view.from ? "start" : "end";
    const name = step === view.from ? `${view.axis ?? "step"} ` : "";
    return { at: x(step), label: name + step.toLocaleString("en"), anchor };
  });
  const rows = ticks.map((tick) => ({ at: y(tick), label: String(tick) }));
  const look = { ink: view.ink, size: 10.5 };
  const parts = [
    axis("left", 41, rows, { grid: [46, view.width - 12], ...look }),
    axis("below", view.height - 6, steps, { ...look }),
  ];
  const dashes = ["", "5 3", "2 3", "8 3 2 3"];
  const line = (xs: readonly number[], ys: readonly number[]) => {
    let path = "";
    let open = false;
    xs.forEach((step, i) => {
      const value = ys[i]!;
      if (Number.isFinite(value)) path += `${open ? "L" : "M"}${at(x(step))} ${at(y(value))}`;
      open = Number.isFinite(value);
    });
    return path;
  };
  for (const curve of shownCurves(panel, view)) {
    const place = panel.labels.indexOf(curve.label);
    const colour = view.colours[(view.oneRun ? place : curve.run) % view.colours.length]!;
    const dash = dashes[place % dashes.length]!;
    const area = (upper: readonly number[], lower: readonly number[], opacity: number) => {
      for (const [from, to] of whole(upper)) {
        const xs = curve.x.slice(from, to);
        const back = line(xs.toReversed(), lower.slice(from, to).toReversed()).replace("M", "L");
        const d = line(xs, upper.slice(from, to)) + back;
        parts.push(`<path d="${d}Z" fill="${colour}" fill-opacity="${opacity}"/>`);
      }
    };
    if (curve.base) area(curve.y, curve.base, 0.45);
    const amount = curve.base ? 0 : view.smoothing;
    const bend = (values: readonly number[]) => (amount > 0 ? smoothed(values, amount) : values);
    const band = bandOf(curve);
    if (band) area(bend(band.high), bend(band.low), 0.16);
    const style = `fill="none" stroke="${colour}" stroke-linejoin="round"`;
    if (amount > 0) {
      parts.push(`<path d="${line(curve.x, curve.y)}" ${style} stroke-opacity=".3"/>`);
    }
    const shown = bend(curve.y);
    parts.push(
      `<path d="${line(curve.x, shown)}" ${style} stroke-width="2" stroke-dasharray="${dash}"/>`,
    );
    const shape = view.oneRun ? 0 : curve.run;
    const mark = (i: number, r: number, edge = "") => {
      if (!Number.isFinite(shown[i]!)) return;
      const d = runMark(shape, x(curve.x[i]!), y(shown[i]!), r);
      parts.push(`<path d="${d}" fill="${colour}"${edge}/>`);
    };
    if (curve.x.length === 1) mark(0, 3);
    // Several runs are distinguished by their marks, each run's at other steps.
    if (!view.oneRun && !curve.base && curve.x.length > 1) {
      const [marks, shift] = [Math.min(5, curve.x.length), (shape % 5) / 5 + 0.1];
      for (let m = 0; m < marks; m++) mark(Math.floor(((m + shift) * curve.x.length) / marks), 2.8);
    }
    const here = curve.x.indexOf(view.cursor ?? NaN);
    if (here >= 0) mark(here, 3.5, ` stroke="${view.ink}"`);
  }
  if (view.cursor !== undefined && view.cursor >= view.from && view.cursor <= view.to) {
    const place = at(Math.max(left, Math.min(right, x(view.cursor))));
    parts.push(
      `<path d="M${place} 8V${view.height - 22}" stroke="${view.ink}" stroke-opacity=".5" stroke-dasharray="3 3"/>`,
    );
  }
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${view.width} ${view.height}" width="${view.width}" height="${view.height}" ` +
    `font-family="system-ui,sans-serif" role="img" aria-label="${escapeHtml(panel.title)}">${parts.join("")}</svg>`
  );
}
