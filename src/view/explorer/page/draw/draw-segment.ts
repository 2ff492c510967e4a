import { readingWidth } from "../layout/layout.js";
import { chipForms, chipWords, resultOf } from "../tree/chip-words.js";
import { tokenText } from "../tree/unpack-tree.js";
import type { BarPlace, HeatLayer } from "./heat-layer.js";
import type { Bars, Painter } from "../../../draw/painter.js";
import { across, chipHeight, isTold, type Scene, written } from "./scene.js";
import type { Word } from "../tree/what-stands-out.js";
import { fitted, textWidth } from "../../../draw/text-width.js";
import { heatStep, sans } from "../../../draw/theme.js";

/** Where a node is drawn. */
export interface Box {
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
  if (layer && each < 8 && !measure.sides) layer.add(levels, { ...at, alpha });
  else {
    const [bars, colours] = barsOf(scene, levels, at);
    painter.bars(bars, colours, alpha);
    if (measure.sides) {
      const middle = (top + bottom) / 2;
      painter.path(`M${left} ${middle}H${left + width * share}`, {
        ...{ stroke: theme.lineStrong, alpha: 0.6 * alpha, butt: true },
      });
    }
  }
  const perToken = width / length;
  if (perToken < readingWidth) return;
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

/** A line below the tokens that a finding is about. */
export function drawMarked(painter: Painter, scene: Scene, box: Box): void {
  const { facts, theme, layout, view } = scene;
  const { node, left, right, bottom, alpha } = box;
  const { length } = facts.tree.nodes[node]!;
  const edge = view.width - layout.gutter;
  for (const [of, from, to] of facts.tree.marks ?? []) {
    if (of !== node || length === 0) continue;
    const x = Math.max(layout.left, left + ((right - left) * from) / length);
    const end = Math.min(edge, Math.max(x + 3, left + ((right - left) * to) / length));
    if (end <= x) continue;
    painter.path(`M${x} ${bottom + 2}H${end}`, {
      ...{ stroke: theme.wrong, width: 2.5, alpha, butt: true },
    });
  }
}

/** Two strokes across the end of a segment that is drawn no wider than most are, and how long it is. */
export function drawBreak(painter: Painter, scene: Scene, box: Box): void {
  const { theme, facts, layout } = scene;
  const { node, right, top, bottom, alpha } = box;
  if (facts.tree.nodes[node]!.length <= layout.clip[facts.turn[node]!]!) return;
  const x = right - 9;
  painter.path(`M${x} ${bottom + 1}l4 ${top - bottom - 2}h4l-4 ${bottom - top + 2}z`, {
    fill: theme.paper,
    alpha,
  });
  painter.path(
    `M${x} ${bottom + 1}l4 ${top - bottom - 2}M${x + 4} ${bottom + 1}l4 ${top - bottom - 2}`,
    { stroke: theme.ink2, width: 1.2, alpha },
  );
  if (bottom - top < 9) return;
  const words = `${facts.tree.nodes[node]!.length.toLocaleString("en")} tokens`;
  const wide = textWidth(words, font(10));
  const y = (top + bottom) / 2;
  painter.rect(x - wide - 9, y - 6.5, wide + 6, 13, {
    fill: theme.paper,
    alpha: 0.85 * alpha,
    round: 3,
  });
  painter.text(x - 6, y, words, { size: 10, align: "right", fill: theme.ink2, alpha });
}

const font = (size: number, weight = 400) => `${weight} ${size}px ${sans}`;
const wordSize = 11;
const letter = 0.602 * wordSize;

/**
 * Above the bars: the word at which a wrong trajectory left a right one's path, and the words at which the model was
 * least sure, as many as fit. Chips of results are taller than bars: words end before them, where there is room.
 */
export function drawWords(painter: Painter, scene: Scene, box: Box): void {
  const { facts, theme, layout } = scene;
  const { node, left, right, top, bottom, alpha } = box;
  const { length, trajectory } = facts.tree.nodes[node]!;
  if (length === 0 || (right - left) / length >= readingWidth) return;
  if (!layout.hasWords || bottom - top < 10) return;
  const share = written(scene, node);
  const edge = scene.view.width - layout.gutter;
  const own = facts.own[trajectory] ?? [];
  const next = own[own.indexOf(node) + 1];
  const chip = next === undefined ? undefined : reach(scene, next)[0];
  const room = chip === undefined ? 8 : Math.max(0, Math.min(8, chip - right - 3));
  const told = isTold(scene);
  const taken: [number, number][] = [];
  const place = (word: Word, extra: number): [x: number, wide: number] | undefined => {
    if (word.to >= share * length) return undefined;
    const wide = word.text.trim().length * letter + extra;
    const middle = left + ((right - left) * (word.from + word.to + 1)) / (2 * length);
    // Inside its segment, as far as it fits; a fault that does not is told all the same.
    const least = chip === undefined ? left + room : left - 12;
    const most = Math.min(Math.max(least, right - wide + room), edge - wide - 2);
    const x = Math.max(Math.min(left - 4, most), Math.min(middle - wide / 2, most));
    if (extra < 10 && wide > right - left + 12) return undefined;
    if (taken.some(([from, to]) => x < to + 3 && from < x + wide + 3)) return undefined;
    taken.push([x, x + wide]);
    return [x, wide];
  };
  const y = top - 8;
  const fault = told ? facts.faults.find((each) => each?.node === node) : undefined;
  const at = fault && place(fault, 22);
  if (fault && at) {
    const [x, wide] = at;
    painter.rect(x, y - 7.5, wide, 15, {
      ...{ fill: theme.wrongSoft, stroke: theme.wrong, round: 4, alpha },
    });
    painter.path(`M${x + 5} ${y - 2.8}l5.6 5.6M${x + 10.6} ${y - 2.8}l-5.6 5.6`, {
      ...{ stroke: theme.wrong, width: 1.7, alpha },
    });
    painter.text(x + 15, y, fault.text.trim(), {
      ...{ size: wordSize, mono: true, weight: 700, fill: theme.wrong, alpha },
    });
  }
  if (layout.align === "time") return;
  const isRight = told && facts.verdicts[Math.max(0, trajectory)] === "right";
  for (const word of facts.peaks(node)) {
    if (fault && word.from === fault.from) continue;
    const found = place(word, 2);
    if (!found) continue;
    painter.text(found[0] + 1, y, word.text.trim(), {
      ...{ size: wordSize, mono: true, alpha, weight: isRight ? 700 : 400 },
      fill: isRight ? theme.right : theme.ink2,
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
    if (measure.sides) {
      const tall = Math.max(1, (Math.abs(level) * height) / 2);
      const middle = (top + bottom) / 2;
      (bars[level >= 0 ? 0 : 1] ??= []).push(x, level >= 0 ? middle - tall : middle, wide, tall);
      continue;
    }
    const tall = Math.max(1.5, level * height);
    (bars[heatStep(level)] ??= []).push(x, bottom - tall, wide, tall);
  }
  return [bars, measure.sides ? [theme.right, theme.wrong] : theme.heat];
}

/** A tool result: folded into a chip, or with its text. */
export function drawChip(painter: Painter, scene: Scene, box: Box & { height: number }): void {
  const { facts, theme, unfolded } = scene;
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
  const forms = chipForms(words);
  const form = forms.find((each) => textWidth(each) <= wide - 23) ?? forms.at(-1)!;
  painter.text(left + 19, middle, fitted(form, wide - 23), {
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
