import { axis } from "../../../common/picture/axis.js";
import { formatNumber, roundPlaces } from "../../../common/picture/scale.js";
import { stillSvg, svgPainter } from "../draw/svg-painter.js";
import type { TextLook } from "../draw/painter.js";
import { heatSteps, type Theme } from "../draw/theme.js";
import type { Outcome, RibbonMean, RibbonRow } from "./ribbon-rows.js";

/** What is decided at an offset, as `BranchValues.profile()` tells it. */
export interface DecidedAt {
  /** 0 is the first token after the result. */
  distance: number;
  /** Tokens that it is the mean of. */
  tokens: number;
  decided: { value: number | undefined; low: number | undefined; high: number | undefined };
}

export interface RibbonDrawing {
  rows: readonly RibbonRow[];
  means: readonly RibbonMean[];
  decided: readonly DecidedAt[];
  from: number;
  to: number;
  prompts: number;
  width: number;
  theme: Theme;
  title: string;
  words: string;
}

/** Below this level of 32 a token is left as paper: most tokens are certain. */
const faintest = 3;
const colourOfMean = 20;
const colourOfBand = 14;

/** Lines of a figure for a paper or a slide: text is text, every font is named. */
export function ribbonSvg(drawing: RibbonDrawing): string {
  const { rows, means, decided, from, to, width, theme, prompts } = drawing;
  const isNarrow = width < 450;
  const size = Math.min(14, Math.max(9, width / 64));
  const left = isNarrow ? 50 : size * 7.6;
  const right = width - (isNarrow ? 8 : 12);
  const gap = isNarrow ? 5 : 9;
  const cell = (right - left - gap) / (to - from);
  const x = (offset: number) => left + (offset - from) * cell + (offset >= 0 ? gap : 0);
  const zero = x(0) - gap / 2;
  const painter = svgPainter("ribbon");
  const text = (at: number, y: number, words: string, look: Partial<TextLook> = {}) =>
    painter.text(at, y, words, { fill: theme.ink, size, ...look });
  const faint = { fill: theme.ink2 };
  let y = size * 2.2;

  /** A panel with a curve and its band: gives where its axis ends. */
  function curve(
    letter: string,
    words: string,
    height: number,
    points: readonly { offset: number; mean: number; low: number; high: number }[],
    colours: { line: string; band: string },
  ): { bottom: number; at: (value: number) => number } {
    const top = y + size * 1.2;
    const bottom = top + height;
    const most = points.reduce((max, { mean, high }) => Math.max(max, mean, high || 0), 0);
    // Up to the round number above the highest value.
    const count = height < 70 ? 2 : 3;
    const [, step = 1] = roundPlaces(0, Math.max(most, 1e-9), count);
    const end = Math.max(1, Math.ceil(most / step - 1e-9)) * step;
    const at = (value: number) => bottom - (Math.max(0, value) / end) * height;
    text(0, y - size * 0.5, letter, { weight: 700, size: size * 1.15 });
    text(left, y - size * 0.5, words, { weight: 600 });
    const rows = roundPlaces(0, end, Math.round(end / step)).map((value) => ({
      ...{ at: at(value), label: formatNumber(value) },
    }));
    painter.parts.push(
      axis("left", left - 5, rows, { grid: [left, right], ink: theme.ink2, size }),
    );
    const middle = (offset: number) => x(offset) + cell / 2;
    for (const part of piecesOf(points)) {
      const banded = part.filter(({ low, high }) => Number.isFinite(low) && Number.isFinite(high));
      if (banded.length > 1) {
        const there = banded.map((p) => `${middle(p.offset)} ${at(p.high)}`);
        const back = [...banded].reverse().map((p) => `${middle(p.offset)} ${at(p.low)}`);
        painter.path(`M${[...there, ...back].join("L")}z`, { fill: colours.band, alpha: 0.22 });
      }
      const line = part.map((p) => `${middle(p.offset)} ${at(p.mean)}`).join("L");
      const width = size > 12 ? 2.2 : 1.5;
      painter.path(`M${line}`, { stroke: colours.line, width });
    }
    y = bottom;
    return { bottom, at };
  }

  const meanPoints = means.map(({ offset, mean, half }) => ({
    ...{ offset, mean },
    ...{ low: Math.max(0, mean - half), high: mean + half },
  }));
  const heat = { line: theme.heat[colourOfMean]!, band: theme.heat[colourOfBand]! };
  const tall = isNarrow ? 62 : size > 12 ? 120 : 92;
  const topOfMean = y;
  const { at } = curve("a", "Mean entropy, nats", tall, meanPoints, heat);
  const peak = peakOf(means);
  if (peak) {
    const px = x(peak.offset) + cell / 2;
    const radius = size > 12 ? 4 : 2.6;
    painter.circle(px, at(peak.mean), radius, { fill: heat.line, stroke: theme.paper });
    text(px + 6, at(peak.mean) - size * 0.4, peak.mean.toFixed(1), { weight: 600 });
    const many = isNarrow || prompts < 2 ? "" : `; band: 95% interval over ${prompts} prompts`;
    const told = `peak ${peak.offset + 1} ${peak.offset === 0 ? "token" : "tokens"} after the result${many}`;
    text(right, topOfMean - size * 0.5, isNarrow ? `peak: token ${peak.offset + 1}` : told, {
      ...{ ...faint, align: "right" },
    });
  }

  // The lines: one per trajectory.
  y += size * 3.1;
  const topOfLines = y;
  text(0, y - size * 1.1, "b", { weight: 700, size: size * 1.15 });
  if (x(0) - left > size * 8) text(left, y - size * 1.1, "Before the result", { weight: 600 });
  text(
    x(0),
    y - size * 1.1,
    isNarrow ? "First tool result (0)" : "After the first tool result (0)",
    {
      ...{ weight: 600, fill: theme.tool },
    },
  );
  const each = Math.min(9, Math.max(1.05, 250 / Math.max(1, rows.length)));
  const most = rows.reduce(
    (max, { entropies }) => entropies.reduce((a, b) => (b > a ? b : a), max),
    1,
  );
  const level = (entropy: number) =>
    Math.min(heatSteps - 1, Math.floor(Math.sqrt(Math.max(0, entropy) / most) * heatSteps));
  const bars: number[][] = theme.heat.map(() => []);
  let [track, results, marks] = ["", "", ""];
  const groups: { outcome: Outcome; from: number; to: number; count: number }[] = [];
  for (const row of rows) {
    let group = groups.at(-1);
    if (group?.outcome !== row.outcome) {
      if (group) y += 5;
      group = { outcome: row.outcome, from: y, to: y, count: 0 };
      groups.push(group);
    }
    const start = Math.max(from, -row.zero);
    const end = Math.min(to, row.entropies.length - row.zero);
    const box = (a: number, b: number) =>
      `M${x(a)} ${y}H${x(b - 1) + cell}v${each * 0.94}H${x(a)}z`;
    if (start < 0) track += box(start, Math.min(0, end));
    if (end > 0) track += box(Math.max(0, start), end);
    // Tokens of one level beside each other are one rectangle.
    for (let offset = start; offset < end;) {
      const now = level(row.entropies[offset + row.zero]!);
      let next = offset + 1;
      while (next < end && next !== 0 && level(row.entropies[next + row.zero]!) === now) next++;
      if (now >= faintest) {
        bars[now]!.push(x(offset), y, x(next - 1) + cell - x(offset) + 0.15, each * 0.94);
      }
      offset = next;
    }
    for (const result of row.results) {
      if (result > 0 && result < to) results += `M${x(result)} ${y}v${each}`;
    }
    if (row.branch !== undefined && row.branch >= from && row.branch < to) {
      const [bx, wide] =
        row.branch === 0 ? [zero - gap / 2 + 0.6, gap - 1.2] : [x(row.branch) - 1.6, 3.2];
      marks += `M${bx} ${y}h${wide}v${each * 0.94}h${-wide}z`;
    }
    y += each;
    group.to = y;
    group.count++;
  }
  painter.path(track, { fill: theme.track });
  painter.bars(bars, theme.heat, 1);
  painter.path(results, { stroke: theme.tool, width: Math.max(1, cell * 0.22), butt: true });
  painter.path(`M${zero} ${topOfMean + size}V${topOfLines}`, {
    ...{ stroke: theme.tool, width: 0.9, dash: [2, 2] },
  });
  painter.path(marks, { fill: theme.accent });
  labelGroups();

  function labelGroups(): void {
    const tints = {
      right: theme.right,
      wrong: theme.ink2,
      "invalid format": theme.wrong,
      "not scored": theme.ink2,
    };
    let lowest = -Infinity;
    for (const { outcome, from: top, to: bottom, count } of groups) {
      painter.path(`M${left - 5} ${top}V${bottom}`, {
        stroke: tints[outcome],
        width: 2.4,
        butt: true,
      });
      const words =
        outcome === "invalid format" ? "invalid" : outcome === "not scored" ? "all" : outcome;
      const isTall = bottom - top > size * 2.4;
      const middle = Math.max(lowest + size * 1.2, (top + bottom) / 2 - (isTall ? size * 0.6 : 0));
      const look = { align: "right", fill: tints[outcome] } as const;
      text(left - 9, middle, isTall ? words : `${words} ${count}`, { ...look, weight: 600 });
      if (isTall)
        text(left - 9, middle + size * 1.25, String(count), { ...look, fill: theme.ink2 });
      lowest = isTall ? middle + size * 1.25 : middle;
    }
  }

  // The axis, and how many lines are still there.
  const ticks = roundPlaces(from, to - 1, (right - left) / (size * 5), 5);
  const lines = y;
  y += size * 1.2;
  const places = ticks.map((tick) => {
    const there = rows.filter((row) => tick >= -row.zero && tick < row.entropies.length - row.zero);
    const at = tick === 0 ? zero : x(tick);
    return { at, label: tick > 0 ? `+${tick}` : String(tick), count: String(there.length) };
  });
  const counts = places.map(({ at, count }) => ({ at, label: count }));
  painter.parts.push(
    axis("below", y + 0.35 * size, places, { grid: [lines, lines + 3], ink: theme.ink2, size }),
    axis("below", y + 1.6 * size, counts, { ink: theme.ink2, size: size * 0.9 }),
  );
  text(left - 9, y, "tokens", { ...faint, align: "right" });
  text(left - 9, y + size * 1.3, isNarrow ? "n" : "lines, n", {
    ...faint,
    align: "right",
    size: size * 0.9,
  });
  y += size * 3.6;
  legend();

  function legend(): void {
    const wide = isNarrow ? 74 : 110;
    const steps = 16;
    for (let i = 0; i < steps; i++) {
      const high = Math.max(1, ((i + 1) / steps) * size * 0.9);
      painter.rect(left + (i * wide) / steps, y + size * 0.35 - high, wide / steps - 0.6, high, {
        fill: theme.heat[Math.min(heatSteps - 1, i * 2 + 1)]!,
      });
    }
    text(left - 9, y, "entropy", { ...faint, align: "right" });
    let last = -Infinity;
    for (const entropy of [0, 0.1, 0.5, 1, 2, 4, 8]) {
      const px = left + Math.sqrt(entropy / most) * wide;
      if (entropy > most || px - last < size * 2) continue;
      last = px;
      text(px, y + size * 1.4, String(entropy), { ...faint, align: "center", size: size * 0.9 });
    }
    let key = left + wide + size * 1.6;
    if (marks !== "") {
      painter.path(`M${key} ${y - 2}h8v4h-8z`, { fill: theme.accent });
      const words = isNarrow ? "branch" : "starts here as a branch";
      text(key + 12, y, words, faint);
      key += size * (isNarrow ? 6.5 : 14);
    }
    if (results !== "") {
      painter.path(`M${key + 2} ${y - 5}v10`, { stroke: theme.tool, width: 1.6 });
      text(key + 9, y, isNarrow ? "next result" : "a later tool result", faint);
    }
    if (!isNarrow) text(right, y, "√ scale", { ...faint, align: "right" });
    y += size * 2.6;
  }

  const known = decided.flatMap(({ distance, tokens, decided: own }) =>
    own.value === undefined || distance < from || distance >= to
      ? []
      : [{ offset: distance, tokens, mean: own.value, low: own.low ?? NaN, high: own.high ?? NaN }],
  );
  if (known.length > 0) {
    y += size * 1.6;
    const words = isNarrow
      ? "Variance a token decides"
      : "Variance of the outcome that a token decides";
    const top = y;
    curve("c", words, tall * 0.7, known, { line: theme.accent, band: theme.accent });
    const count = known.reduce((sum, { tokens }) => sum + tokens, 0);
    text(
      right,
      top - size * 0.5,
      isNarrow ? `n = ${count}` : `n = ${count} tokens; band: 95% interval`,
      {
        ...{ ...faint, align: "right" },
      },
    );
    y += size * 1.2;
  }
  const ground = svgPainter();
  ground.rect(0, 0, width, y, { fill: theme.paper });
  const { title, words } = drawing;
  return stillSvg({ width, height: y, title, words, parts: [...ground.parts, ...painter.parts] });
}

/** The highest mean after the result. */
export const peakOf = (means: readonly RibbonMean[]): RibbonMean | undefined =>
  means
    .filter(({ offset }) => offset >= 0)
    .reduce<RibbonMean | undefined>(
      (a, b) => (a === undefined || b.mean > a.mean ? b : a),
      undefined,
    );

/** Points in pieces without a gap, apart at the result. */
function piecesOf<T extends { offset: number }>(points: readonly T[]): T[][] {
  const pieces: T[][] = [];
  for (const point of points) {
    const last = pieces.at(-1);
    const before = last?.at(-1)?.offset;
    if (last && before === point.offset - 1 && point.offset !== 0) last.push(point);
    else pieces.push([point]);
  }
  return pieces;
}
