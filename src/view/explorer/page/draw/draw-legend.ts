import { two } from "../../../page/words.js";
import { verdictNames } from "../tree/tree-facts.js";
import { drawVerdict } from "./draw-gutter.js";
import { drawGauge } from "./draw-marks.js";
import type { Painter } from "../../../draw/painter.js";
import type { Scene } from "./scene.js";
import { textWidth } from "../../../draw/text-width.js";
import { heatStep, sans } from "../../../draw/theme.js";

/** What a legend and a whole picture are made of. */
type ShownTree = Pick<Scene, "facts" | "theme" | "measure" | "layout" | "replay">;

/** One entry of the legend: what is drawn, how wide that is, and its name. */
interface LegendEntry {
  width: number;
  name: string;
  /** Draws it from x on, its middle at y. */
  draw: (painter: Painter, x: number, y: number) => void;
  /** The name stands before. */
  isScale?: boolean;
}

const rampWidth = 132;

/** What colours and marks mean, for the page and for exported pictures alike. */
export function legendEntries(tree: ShownTree): LegendEntry[] {
  const { facts, theme, measure, layout, replay } = tree;
  const entries: LegendEntry[] = [scaleEntry(tree)];
  const key = (name: string, width: number, draw: LegendEntry["draw"]) =>
    entries.push({ name, width, draw });
  if (facts.branches > 0 || replay.attempts.size > 0) {
    key("branched", 14, (painter, x, y) =>
      painter.path(`M${x + 7} ${y - 6}l6 6l-6 6l-6 -6z`, { fill: theme.accent }),
    );
  }
  if (replay.attempts.size > 0) {
    key("no branch", 12, (painter, x, y) =>
      painter.circle(x + 6, y, 4, { stroke: theme.lineStrong, width: 1.5 }),
    );
  }
  if (layout.gauge > 0) {
    key("chance to branch: coin + entropy; the line is the draw", 30, (painter, x, y) =>
      drawGauge(painter, theme, { base: 0.5, probability: 0.66, draw: 0.3 }, { x, y, wide: 28 }),
    );
  }
  if (layout.hasWords && facts.faults.some((fault) => fault !== undefined)) {
    key("the word at which it left a right path", 14, (painter, x, y) => {
      painter.rect(x + 0.5, y - 6.5, 13, 13, {
        ...{ fill: theme.wrongSoft, stroke: theme.wrong, round: 4 },
      });
      painter.path(`M${x + 4.2} ${y - 2.8}l5.6 5.6M${x + 9.8} ${y - 2.8}l-5.6 5.6`, {
        ...{ stroke: theme.wrong, width: 1.7 },
      });
    });
  }
  const isOther = [...replay.attempts.values()].flat().some(({ branch, was }) => branch !== was);
  if (replay.changed || (replay.decidesAnew && isOther)) {
    key("decided otherwise", 16, (painter, x, y) =>
      painter.circle(x + 8, y, 6.5, { stroke: theme.accent, width: 1.6, dash: [2.5, 2.5] }),
    );
  }
  if (facts.tree.nodes.some(({ kind }) => kind === "tool")) {
    key("tool result", 18, (painter, x, y) =>
      painter.rect(x + 0.5, y - 6, 17, 12, {
        ...{ fill: theme.toolSoft, stroke: theme.toolLine, round: 4 },
      }),
    );
  }
  if (facts.tree.marks) {
    key("tokens of a finding", 16, (painter, x, y) =>
      painter.path(`M${x} ${y + 3}h16`, { stroke: theme.wrong, width: 2.5, butt: true }),
    );
  }
  for (const verdict of ["right", "wrong", "invalid", "unfinished"] as const) {
    if (!facts.verdicts.includes(verdict)) continue;
    key(verdictNames[verdict], 14, (painter, x, y) =>
      drawVerdict(painter, theme, verdict, { x: x + 7, y, size: 5, alpha: 1 }),
    );
  }
  if (facts.mean !== undefined && !layout.isPhone) {
    key(`mean score ${two(facts.mean)}`, 10, (painter, x, y) =>
      painter.path(`M${x + 5} ${y - 7}v14`, { stroke: theme.ink, width: 1.3, dash: [3, 2.5] }),
    );
  }
  if (measure.sides) {
    const square = (name: string, fill: string) =>
      key(name, 12, (painter, x, y) => painter.rect(x, y - 6, 12, 12, { fill, round: 3 }));
    square(measure.sides[0], theme.right);
    square(measure.sides[1], theme.wrong);
  }
  return entries;
}

function scaleEntry({ measure, theme }: ShownTree): LegendEntry {
  const count = 22;
  const each = rampWidth / count;
  return {
    ...{ name: measure.label, isScale: true, width: rampWidth + 8 },
    draw: (painter, x, y) => {
      for (let i = 0; i < count; i++) {
        const level = measure.sides ? (2 * (i + 0.5)) / count - 1 : (i + 1) / count;
        const tall = Math.max(1.5, Math.abs(level) * (measure.sides ? 8 : 16));
        const top = measure.sides ? (level >= 0 ? y - tall : y) : y + 7 - tall;
        const fill = measure.sides
          ? level >= 0
            ? theme.right
            : theme.wrong
          : theme.heat[heatStep(level)]!;
        painter.rect(x + i * each, top, each - 1, tall, { fill });
      }
      let last = -Infinity;
      for (const [level, label] of measure.ticks) {
        const at = (measure.sides ? (level + 1) / 2 : level) * rampWidth;
        if (at - last < 17) continue;
        last = at;
        const align = at < 6 ? "left" : at > rampWidth - 6 ? "right" : "center";
        painter.text(x + at, y + 15, label, { size: 10, align, fill: theme.ink3 });
      }
    },
  };
}

/** The legend as part of a picture: its height. */
export function drawLegend(tree: ShownTree, painter: Painter, width: number, top: number): number {
  const { theme } = tree;
  let [x, y] = [12, top + 20];
  for (const { name, width: wide, draw, isScale } of legendEntries(tree)) {
    const text = textWidth(name, `400 11px ${sans}`);
    const whole = wide + 8 + text + 14;
    // The numbers of the scale stand below it, between the first line and the second.
    if (x > 12 && x + whole > width) [x, y] = [12, y === top + 20 ? y + 32 : y + 24];
    const look = { size: 11, fill: theme.ink2 };
    painter.text(isScale ? x : x + wide + 6, y, name, look);
    draw(painter, isScale ? x + text + 8 : x, y);
    x += whole;
  }
  return y + 26 - top;
}
