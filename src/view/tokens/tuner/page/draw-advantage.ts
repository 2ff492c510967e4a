import { clipBounds } from "../../../../learn/losses/base/options.js";
import type { Painter } from "../../../draw/painter.js";
import type { Theme } from "../../../draw/theme.js";
import { percent } from "../../../page/words.js";
import type { TunerSettings } from "../payload.js";
import type { Tuned, TunerBatch } from "./tune.js";

const [left, right, top, bottom] = [46, 12, 26, 44];
const bins = 61;

/** Where the ratio axis ends on either side, as a logarithm: it holds nearly all tokens and both bounds. */
function reachOf({ ratio }: Tuned, { low, high }: TunerSettings): number {
  const logs = [...ratio]
    .flatMap((x) => (x > 0 ? Math.abs(Math.log(x)) : []))
    .sort((a, b) => a - b);
  const most = logs[Math.ceil(0.995 * logs.length) - 1] ?? 0;
  const bounds = [Math.log(1 + high), low < 1 ? -Math.log(1 - low) : 0];
  return Math.min(3, Math.max(0.05, most * 1.05, ...bounds.map((x) => x * 1.25)));
}

/** A number of an axis in few characters. */
const short = (x: number) => String(Number(x.toPrecision(3)));

/**
 * The advantage of all tokens by their ratio, upwards what is to become more likely: filled what keeps its gradient, open
 * what loses it, with the clip bounds.
 */
export function drawAdvantage(
  painter: Painter,
  theme: Theme,
  { batch, tuned, settings }: { batch: TunerBatch; tuned: Tuned; settings: TunerSettings },
  { width, height }: { width: number; height: number },
): void {
  const reach = reachOf(tuned, settings);
  const kept = [new Float64Array(bins), new Float64Array(bins)] as const;
  const lost = [new Float64Array(bins), new Float64Array(bins)] as const;
  tuned.ratio.forEach((ratio, token) => {
    const advantage = batch.advantages[token]!;
    if (!batch.mask[token] || advantage === 0 || Number.isNaN(ratio)) return;
    const place = (Math.log(Math.max(ratio, 1e-9)) + reach) / (2 * reach);
    const bin = Math.max(0, Math.min(bins - 1, Math.floor(place * bins)));
    const side = advantage > 0 ? 0 : 1;
    (tuned.cause[token] === undefined ? kept : lost)[side][bin]! += Math.abs(advantage);
  });
  const all = Math.max(1e-12, tuned.all);
  const tallest = Math.max(
    1e-9,
    ...kept[0].map((x, i) => x + lost[0][i]!),
    ...kept[1].map((x, i) => x + lost[1][i]!),
  );
  const middle = top + (height - top - bottom) / 2;
  const room = (height - top - bottom) / 2;
  // Most tokens have hardly moved: the others would be flat on a linear scale.
  const tall = (sum: number) => room * Math.sqrt(sum / tallest);
  const x = (log: number) => left + ((log + reach) / (2 * reach)) * (width - left - right);
  const each = (width - left - right) / bins;
  const faint = { size: 10.5, fill: theme.ink2 };
  painter.rect(0, 0, width, height, { fill: theme.paper });
  const { low, high, c } = clipBounds({
    ...{ clipRatioLow: settings.low, clipRatioHigh: settings.high, clipRatioC: settings.c },
  });
  const inside = [
    Math.max(-reach, low > 0 ? Math.log(low) : -reach),
    Math.min(reach, Math.log(high)),
  ];
  painter.rect(x(inside[0]!), top, x(inside[1]!) - x(inside[0]!), height - top - bottom, {
    fill: theme.accentSoft,
  });
  for (const side of [0, 1] as const) {
    const colour = side === 0 ? theme.right : theme.wrong;
    const sign = side === 0 ? -1 : 1;
    for (let bin = 0; bin < bins; bin++) {
      const [full, whole] = [tall(kept[side][bin]!), tall(kept[side][bin]! + lost[side][bin]!)];
      const at = left + bin * each;
      const box = (from: number, to: number, look: Parameters<Painter["rect"]>[4]) =>
        painter.rect(
          at + 0.5,
          Math.min(middle + sign * from, middle + sign * to),
          each - 1,
          Math.abs(to - from),
          look,
        );
      if (full > 0.2) box(0, full, { fill: colour });
      if (whole - full > 0.2) box(full, whole, { fill: theme.paper, stroke: colour, width: 1.2 });
    }
  }
  painter.path(`M${left} ${middle}H${width - right}`, { stroke: theme.lineStrong });
  // Labels lean away from each other: the bounds may lie close together.
  for (const [bound, align] of [
    [low, "right"],
    [high, "left"],
    [c, "left"],
  ] as const) {
    if (!(bound > 0) || Math.abs(Math.log(bound)) > reach) continue;
    const at = x(Math.log(bound));
    painter.path(`M${at} ${top}V${height - bottom}`, {
      ...{ stroke: theme.accent, width: 1.4, dash: [4, 3] },
    });
    painter.text(at + (align === "left" ? -3 : 3), top - 9, short(bound), {
      ...{ ...faint, fill: theme.accent, align },
    });
  }
  for (const share of [-1, -0.5, 0, 0.5, 1]) {
    const log = share * reach;
    painter.text(x(log), height - bottom + 12, short(Math.exp(log)), {
      ...{ ...faint, align: share === 1 ? "right" : "center" },
    });
  }
  painter.text((left + width - right) / 2, height - 14, "ratio (log scale)", {
    ...{ ...faint, align: "center" },
  });
  const most = percent(tallest / all);
  painter.text(left - 6, top + 5, most, { ...faint, align: "right" });
  painter.text(left - 6, middle, "0", { ...faint, align: "right" });
  painter.text(left - 6, height - bottom - 4, most, { ...faint, align: "right" });
}
