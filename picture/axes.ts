import { escapeHtml } from "./escape.js";
import { textOf } from "./figure-like.js";
import { formatNumber } from "./format-number.js";
import type { Plot } from "./marks.js";
import { rampSteps } from "./ramp.js";
import type { Trace } from "./traces.js";

/** Cuts a text that would run into its neighbour. */
const cut = (text: string, most: number) =>
  text.length > most ? `${text.slice(0, most - 1)}…` : text;

/** The grid, the numbers on the axes, and what the axes are called. */
export function axes(plot: Plot, layout: Record<string, unknown>, ink: string): string {
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
    const short = cut(label, 14);
    parts.push(
      `<text x="${x}" y="${top + height + 16}" text-anchor="${at > 0.97 && short.length > 6 ? "end" : "middle"}">${escapeHtml(short)}</text>`,
    );
  }
  parts.push(`<path d="M${left} ${top + height}h${width}" stroke="${ink}"/>`);
  const title = (axis: string): string =>
    escapeHtml(textOf(((layout[axis] ?? {}) as { title?: unknown }).title));
  parts.push(
    `<text x="${left + width / 2}" y="${top + height + 36}" text-anchor="middle">${title("xaxis")}</text>`,
    `<text transform="translate(14 ${top + height / 2}) rotate(-90)" text-anchor="middle">${title("yaxis")}</text>`,
  );
  return parts.join("");
}

/** What each colour stands for. */
export function legend(traces: readonly Trace[], left: number, top: number): string {
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
export function colourBar(trace: Trace, left: number, plot: Plot, ink: string): string {
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
