import { escapeHtml } from "./escape.js";
import { neutral } from "./grey.js";

/** A place on an axis, in pixels, and what is written there. */
export interface AxisTick {
  at: number;
  label: string;
  /** Of a label below a picture, where it would leave it (default in the middle). */
  anchor?: "start" | "middle" | "end";
}

const short = (x: number) => String(Math.round(x * 10) / 10);

/**
 * The labels of an axis left of a picture or below it, at `place`, and grid lines from here to there where they are asked
 * for. Numbers have a real minus.
 */
export function axis(
  side: "left" | "below",
  place: number,
  ticks: readonly AxisTick[],
  {
    grid,
    ink,
    size,
  }: { grid?: readonly [from: number, to: number]; ink?: string; size?: number } = {},
): string {
  const isLeft = side === "left";
  const look =
    (ink === undefined ? "" : ` fill="${ink}"`) +
    (size === undefined ? "" : ` font-size="${short(size)}"`);
  return ticks
    .map(({ at, label, anchor = "middle" }) => {
      const [x, y] = (isLeft ? [place, at] : [at, place]).map(short);
      const run = grid && short(grid[1] - grid[0]);
      const path = grid && (isLeft ? `M${grid[0]} ${y}h${run}` : `M${x} ${grid[0]}v${run}`);
      const line = path ? `<path d="${path}" stroke="${neutral}" opacity=".25"/>` : "";
      // Half the height of digits: not every program knows of other baselines.
      const text = `<text x="${x}" y="${y}"${isLeft ? ' dy=".32em"' : ""} text-anchor="${isLeft ? "end" : anchor}"${look}>`;
      return `${line}${text}${escapeHtml(label.replace(/^-(?=[\d.])/, "−"))}</text>`;
    })
    .join("");
}
