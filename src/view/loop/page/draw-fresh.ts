import type { Painter } from "../../draw/painter.js";
import type { Theme } from "../../draw/theme.js";
import type { LoopPayload } from "../payload.js";

/** The share of fresh tries that were right over the updates, with its interval, and where the loop stands. */
export function drawFresh(
  painter: Painter,
  theme: Theme,
  { fresh, updates }: LoopPayload,
  { width, height, step }: { width: number; height: number; step: number },
): void {
  const [left, right, top, bottom] = [40, 10, 6, 6];
  const x = (at: number) => left + (at * (width - left - right)) / Math.max(1, updates);
  const y = (share: number) => height - bottom - share * (height - top - bottom);
  const look = { size: 10, align: "right" as const, fill: theme.ink3 };
  painter.text(left - 8, y(1) + 1, "100%", look);
  painter.text(left - 8, y(0) - 1, "0%", look);
  const point = (at: number, share: number) => `${x(at).toFixed(1)} ${y(share).toFixed(1)}`;
  const high = fresh.map((one, i) => point(i, one.high));
  const low = fresh.map((one, i) => point(i, one.low)).reverse();
  painter.path(`M${[...high, ...low].join("L")}Z`, { fill: theme.right, alpha: 0.16 });
  painter.path(`M${fresh.map((one, i) => point(i, one.share)).join("L")}`, {
    ...{ stroke: theme.right, width: 1.8 },
  });
  painter.path(`M${x(step)} 2V${height - 2}`, { stroke: theme.accent, width: 1.2 });
  const share = fresh[Math.round(step)]?.share ?? 0;
  painter.circle(x(step), y(share), 4, { fill: theme.right, stroke: theme.paper, width: 1.5 });
}
