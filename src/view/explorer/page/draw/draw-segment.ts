import { readingWidth } from "../layout/layout.js";
import { chipForms, chipWords, resultOf } from "../tree/chip-words.js";
import { tokenText } from "../tree/unpack-tree.js";
import type { BarPlace, HeatLayer } from "./heat-layer.js";
import type { Bars, Painter } from "../../../draw/painter.js";
import { across, chipHeight, type Scene, written } from "./scene.js";
import { fitted } from "../../../draw/text-width.js";
import { heatStep } from "../../../draw/theme.js";

/** Where a node is drawn. */
interface Box {
  node: number;
  left: number;
  right: number;
  top: number;
  bottom: number;
  alpha: number;
}

/** What the model wrote: a bar per token, as tall and as dark as its quantity is large. */
export function drawSegment(painter: Painter, scene: Scene, box: Box, layer?: HeatLayer): void {
  const { facts, measure, theme, layout, view, bins } = scene;
  const { node, left, right, top, bottom, alpha } = box;
  const share = written(scene, node);
  const [width, height] = [right - left, bottom - top];
  const { length, start } = facts.tree.nodes[node]!;
  painter.rect(left, top, Math.max(1.5, width * share), height, {
    ...{ fill: theme.track, alpha, round: height < 12 ? 0 : 3 },
  });
  if (length === 0) return;
  const levels = bins.of(node, width);
  const each = width / levels.length;
  const edge = view.width - layout.gutter;
  const at = {
    ...{ left, top, bottom, each, from: Math.max(0, Math.floor((layout.left - left) / each)) },
    to: Math.min(levels.length, Math.ceil((edge - left) / each), Math.ceil(levels.length * share)),
  };
  if (layer && each < 8 && !measure.isSigned) layer.add(levels, { ...at, alpha });
  else {
    const [bars, colours] = barsOf(scene, levels, at);
    painter.bars(bars, colours, alpha);
    if (measure.isSigned) {
      const middle = (top + bottom) / 2;
      painter.path(`M${left} ${middle}H${left + width * share}`, {
        ...{ stroke: theme.lineStrong, alpha: 0.6 * alpha, butt: true },
      });
    }
  }
  if (layout.tokenWidth < readingWidth) return;
  const perToken = width / length;
  const first = Math.max(0, Math.floor((layout.left - left) / perToken));
  const last = Math.min(length, Math.ceil((view.width - layout.gutter - left) / perToken));
  const most = Math.floor(perToken / 6.4);
  for (let t = first; t < last; t++) {
    const text = tokenText(facts.tree, facts.tree.tokens[start + t]!).replace(/\n/g, "↵");
    const told = text.length > most ? `${text.slice(0, Math.max(1, most - 1))}…` : text;
    painter.text(left + t * perToken + 1, top - 9, told, {
      ...{ size: 10.5, mono: true, fill: theme.ink2, alpha },
    });
  }
}

/** Bars by colour: heat from below, or right and wrong up and down from the middle. */
function barsOf({ measure, theme }: Scene, levels: Float32Array, at: BarPlace): [Bars, string[]] {
  const { left, top, bottom, each } = at;
  const height = bottom - top;
  const wide = Math.max(0.6, each - (each >= 4 ? 1 : 0));
  const bars: Bars = [];
  for (let i = at.from; i < at.to; i++) {
    const level = levels[i]!;
    if (Number.isNaN(level)) continue;
    const x = left + i * each;
    if (measure.isSigned) {
      const tall = Math.max(1, (Math.abs(level) * height) / 2);
      const middle = (top + bottom) / 2;
      (bars[level >= 0 ? 0 : 1] ??= []).push(x, level >= 0 ? middle - tall : middle, wide, tall);
      continue;
    }
    const tall = Math.max(1.5, level * height);
    (bars[heatStep(level)] ??= []).push(x, bottom - tall, wide, tall);
  }
  return [bars, measure.isSigned ? [theme.right, theme.wrong] : theme.heat];
}

/** A tool result: folded into a chip, or with its text. */
export function drawChip(painter: Painter, scene: Scene, box: Box & { height: number }): void {
  const { facts, theme, layout, unfolded } = scene;
  const { node: id, left, right, alpha } = box;
  const node = facts.tree.nodes[id]!;
  const tall = chipHeight(box.height);
  const wide = Math.max(2, right - left);
  const middle = (box.top + box.bottom) / 2;
  const words = chipWords(facts.tree, node);
  painter.rect(left, middle - tall / 2, wide, tall, {
    ...{ fill: theme.toolSoft, stroke: theme.toolLine, round: Math.min(5, tall / 2), alpha },
  });
  if (wide < 10) return;
  const x = left + (wide < 30 ? wide / 2 : 10);
  const line = { stroke: theme.tool, width: 1.4, alpha };
  if (tall >= 9 && words.tag === "python") {
    painter.path(`M${x - 3.5} ${middle - 3}l3 3l-3 3M${x + 1} ${middle + 3.2}h3`, line);
  } else if (tall >= 9 && words.tag !== "search") {
    painter.rect(x - 4, middle - 4, 8, 8, { ...line, round: 2 });
    painter.path(`M${x - 1.6} ${middle}h3.2`, line);
  } else if (tall >= 9) {
    painter.circle(x - 1, middle - 1, 3.2, line);
    painter.path(`M${x + 1.4} ${middle + 1.4}l2.8 2.8`, line);
  }
  if (wide < 40) return;
  if (unfolded.has(id)) {
    const text = resultOf(facts.tree, node).replace(/\n/g, "  ");
    const most = Math.floor((wide - 24) / 6.4);
    const told = text.length > most ? `${text.slice(0, most)}…` : text;
    painter.text(left + 19, middle, told, { size: 10.5, mono: true, fill: theme.tool, alpha });
    return;
  }
  const form = chipForms[layout.forms[facts.turn[id]!]!]!;
  painter.text(left + 19, middle, fitted(form(words), wide - 23), {
    ...{ size: 11, weight: 500, alpha, fill: words.failed ? theme.wrong : theme.tool },
  });
}

/** Whether a box is in view from left to right. */
export const isAcross = (scene: Scene, left: number, right: number): boolean =>
  right >= scene.layout.left - 4 && left <= scene.view.width - scene.layout.gutter + 4;

/** From where to where a node reaches in the view. */
export const reach = (scene: Scene, node: number): [left: number, right: number] => [
  across(scene, scene.layout.x0[node]!),
  across(scene, scene.layout.x1[node]!),
];
