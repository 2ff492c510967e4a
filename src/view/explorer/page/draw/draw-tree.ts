import type { Lane } from "../layout/lane-order.js";
import { markX } from "../layout/layout.js";
import { laneOf } from "../tree/paths.js";
import { ancestors } from "../tree/tree-facts.js";
import { drawGutter, gutterColumns } from "./draw-gutter.js";
import { drawMarks, drawPill } from "./draw-marks.js";
import {
  type Box,
  drawBreak,
  drawChip,
  drawMarked,
  drawSegment,
  drawWords,
  isAcross,
  reach,
} from "./draw-segment.js";
import type { HeatLayer } from "./heat-layer.js";
import type { Look, Painter } from "../../../draw/painter.js";
import { across, barRoom, begun, chipHeight, type Scene, written } from "./scene.js";

/** The line above the lanes: turns, or a ruler in tokens or time, and the columns at the right. */
function drawHead(painter: Painter, scene: Scene): void {
  const { facts, layout, theme, view } = scene;
  const right = view.width - layout.gutter;
  const y = layout.head / 2;
  painter.rect(0, 0, view.width, layout.head, { fill: theme.paper });
  painter.clip(layout.left - 14, 0, Math.max(0, right - layout.left + 10), layout.head, () => {
    if (layout.align === "turns") drawTurns(painter, scene, y);
    else drawRuler(painter, scene, y);
  });
  const columns = gutterColumns(layout, right);
  const faint = { size: 11, fill: theme.ink3 };
  if (columns.answer !== undefined) {
    painter.text(columns.answer + 62, y, "answer", { ...faint, align: "right" });
  }
  if (columns.score && facts.mean !== undefined) {
    painter.text(columns.score.at, y, "score", { ...faint, align: "center" });
  }
  if (columns.ratio && scene.logRatios) {
    painter.text(columns.ratio.text, y, "prob. ratio", { ...faint, align: "right" });
  }
  if (facts.advantages.some((each) => each !== undefined)) {
    if (layout.isPhone) {
      painter.text(columns.advantage.at, y, "adv.", { ...faint, align: "center" });
    } else painter.text(columns.advantageText!, y, "advantage", { ...faint, align: "right" });
  }
  painter.path(`M0 ${layout.head - 0.5}H${view.width}`, { stroke: theme.line });
}

function drawTurns(painter: Painter, scene: Scene, y: number): void {
  const { facts, layout, theme } = scene;
  for (let turn = 0; turn < facts.turns; turn++) {
    const x = across(scene, layout.turnX[turn]!);
    const wide = layout.turnTokens[turn]! * layout.tokenWidth;
    // A heading is as wide as the space until the next one.
    const next = layout.turnX[turn + 1];
    const space = next === undefined ? Infinity : across(scene, next) - x;
    const name = layout.isPhone || space < 52 ? `${turn + 1}` : `Turn ${turn + 1}`;
    if (space < 14) continue;
    painter.text(turn > 0 ? x : x - 2, y, name, {
      ...{ size: 11.5, weight: 600, fill: theme.ink2 },
    });
    if (!layout.isPhone && wide > 190) {
      const words = turn === facts.turns - 1 ? "the model answers" : "the model writes";
      painter.text(x + 48, y, words, { size: 11, fill: theme.ink3 });
    }
    const chip = layout.chipWidth[turn]!;
    if (chip > 56 && wide > 58) {
      const words = chip > 80 ? "tool result" : "tool";
      painter.text(across(scene, layout.chipX[turn]!) + 4, y, words, {
        ...{ size: 11, fill: theme.tool },
      });
    }
  }
}

function drawRuler(painter: Painter, scene: Scene, y: number): void {
  const { layout, theme, facts } = scene;
  const isTime = layout.align === "time";
  const longest = facts.tree.nodes.reduce((most, { ended }) => Math.max(most, ended ?? 0), 1);
  const scale = isTime ? layout.end / longest : layout.tokenWidth;
  const apart = 90 / scale;
  const power = 10 ** Math.floor(Math.log10(apart));
  const step = Math.max(1, power * ([1, 2, 5].find((m) => m * power >= apart) ?? 10));
  const inSeconds = isTime && step >= 1000;
  const unit = isTime ? (inSeconds ? "s" : "ms") : "tokens by the model";
  const look = { size: 11, fill: theme.ink3 };
  for (let value = 0; value * scale < layout.totalWidth; value += step) {
    const told = inSeconds ? value / 1000 : value;
    painter.text(across(scene, value * scale), y, value === 0 ? `0 ${unit}` : String(told), look);
  }
}

/** Elbows from branch points to the trajectories that start there. */
function drawLinks(painter: Painter, scene: Scene): void {
  const { facts, layout, theme, view, path } = scene;
  const highlighted = new Set(path >= 0 ? ancestors(facts, path) : []);
  for (const lane of layout.lanes) {
    const { ghost, trajectory } = lane;
    const from = ghost ? ghost.node : facts.tree.trajectories[trajectory]!.from;
    const parent = ghost
      ? layout.laneAt.get(laneOf(facts.tree, ghost.node))
      : layout.laneAt.get(facts.above[trajectory]!);
    if (from < 0 || !parent || (!ghost && !begun(scene, trajectory))) continue;
    const y0 = scene.yOf(parent) - view.y + parent.height / 2;
    const y1 = scene.yOf(lane) - view.y + lane.height / 2;
    if (y1 < layout.head - 20 || y0 > view.height) continue;
    const space = facts.tree.nodes[from]!.kind === "tool" ? 2 * layout.tail : layout.cut;
    const x = across(scene, markX(layout, facts, from, ghost?.offset));
    const round = Math.max(0, Math.min(8, (y1 - y0) / 2, space / 2));
    const on = highlighted.has(trajectory);
    const look: Look = {
      stroke: ghost || on ? theme.accent : theme.lineStrong,
      width: on ? 2.5 : 1.5,
      alpha: lane.dim && !on ? 0.4 : 1,
      ...(ghost || lane.gone ? { dash: [3, 3] } : {}),
    };
    const end = Math.max(x + round, x + space / 2);
    painter.path(`M${x} ${y0}V${y1 - round}Q${x} ${y1} ${x + round} ${y1}H${end}`, look);
  }
}

/** The line from the prompt along the first trajectories. */
function drawTrunk(painter: Painter, scene: Scene): void {
  const { facts, layout, theme, view } = scene;
  const roots = layout.lanes.filter(
    ({ trajectory }) => trajectory >= 0 && facts.above[trajectory]! < 0 && begun(scene, trajectory),
  );
  const [first, last] = [roots[0], roots.at(-1)];
  if (!first || !last) return;
  const middle = (lane: typeof first) => scene.yOf(lane) - view.y + lane.height / 2;
  const from = Math.max(layout.head, middle(first) - 16);
  painter.path(`M${across(scene, -9)} ${from}V${middle(last)}`, {
    ...{ stroke: theme.lineStrong, width: 1.5 },
  });
}

/** A trajectory's path from the prompt: below what the model wrote, between segments, around chips. */
function drawPath(painter: Painter, scene: Scene, trajectory: number, second: boolean): void {
  const { facts, layout, theme, view } = scene;
  const right = view.width - layout.gutter + 2;
  const colour = second ? theme.ink : theme.accent;
  let path = "";
  let before: { node: number; lane: number; middle: number } | undefined;
  let isWhole = true;
  for (const id of facts.paths[trajectory]!) {
    const { kind } = facts.tree.nodes[id]!;
    const own = laneOf(facts.tree, id);
    const lane = layout.laneAt.get(own);
    if (!lane) continue;
    if (written(scene, id) <= 0) {
      isWhole = false;
      break;
    }
    const y = scene.yOf(lane) - view.y;
    const middle = y + lane.height / 2;
    const [left, end] = [across(scene, layout.x0[id]!), across(scene, layout.x1[id]!)];
    if (!before) path += `M${across(scene, -9)} ${middle}H${left}`;
    else if (before.lane === own)
      path += `M${across(scene, layout.x1[before.node]!)} ${middle}H${left}`;
    else {
      const fork = across(scene, markX(layout, facts, before.node));
      path += `M${across(scene, layout.x1[before.node]!)} ${before.middle}H${fork}`;
    }
    if (kind === "model") {
      path += `M${left} ${y + lane.height - (lane.height < 16 ? 0.5 : 2)}H${end}`;
    } else {
      const tall = chipHeight(lane.height);
      painter.rect(left, middle - tall / 2, Math.max(2, end - left), tall, {
        ...{ stroke: colour, width: 1.8, round: 5, ...(second ? { dash: [4, 3] } : {}) },
      });
    }
    before = { node: id, lane: own, middle };
  }
  if (before && isWhole) {
    path += `M${across(scene, layout.x1[before.node]!) + 3} ${before.middle}H${right}`;
  }
  painter.path(path, {
    ...{ stroke: colour, width: second ? 1.8 : 2.5, butt: true },
    ...(second ? { dash: [5, 3] } : {}),
  });
}

/** Draws what is in view of the tree: the one drawing of screen, SVG and PNG. */
export function drawTree(painter: Painter, scene: Scene): void {
  const { layout, theme, view, path, compared } = scene;
  const right = view.width - layout.gutter;
  painter.rect(0, 0, view.width, view.height, { fill: theme.paper });
  const lanes = layout.lanes.filter((lane) => {
    const y = scene.yOf(lane) - view.y;
    return y < view.height && y + lane.height > layout.head;
  });
  const layer = painter.image && scene.heat;
  layer?.begin(view, theme);
  const space = { width: Math.max(0, right - layout.left + 16), height: view.height - layout.head };
  painter.clip(layout.left - 14, layout.head, space.width, space.height, () => {
    drawTurnColumns(painter, scene);
    drawLinks(painter, scene);
    const segments: Box[] = [];
    for (const lane of lanes) {
      if (lane.ghost) drawGhost(painter, scene, lane);
      else if (begun(scene, lane.trajectory))
        segments.push(...drawLane(painter, scene, lane, layer));
    }
    if (layer) {
      const { width, height } = view;
      painter.image!(layer.done(), { x: 0, y: 0, width, height });
    }
    for (const box of segments) drawWords(painter, scene, box);
    for (const lane of lanes) if (!lane.ghost) drawOutlines(painter, scene, lane);
    for (const lane of lanes) if (!lane.ghost) drawBreaks(painter, scene, lane);
    if (path >= 0) drawPath(painter, scene, path, false);
    if (compared >= 0 && compared !== path) drawPath(painter, scene, compared, true);
    drawTrunk(painter, scene);
    drawMarks(painter, scene, lanes);
  });
  drawGutter(painter, scene, lanes);
  drawNumbers(painter, scene, lanes);
  drawPill(painter, scene);
  drawHead(painter, scene);
}

/** Every other turn on a grey ground. */
function drawTurnColumns(painter: Painter, scene: Scene): void {
  const { facts, layout, theme, view } = scene;
  if (layout.align !== "turns") return;
  for (let turn = 1; turn < facts.turns; turn += 2) {
    const from = across(scene, layout.turnX[turn]!) - layout.gap / 2 + 1;
    const next = layout.turnX[turn + 1];
    const to =
      next === undefined ? across(scene, layout.end) : across(scene, next) - layout.gap / 2 - 1;
    const look = { fill: theme.surface, alpha: 0.7 };
    painter.rect(from, layout.head, to - from, view.height, look);
  }
}

/** A branch that would be new: its text is unknown. */
function drawGhost(painter: Painter, scene: Scene, lane: Lane): void {
  const { facts, layout, theme, view } = scene;
  const { node, offset } = lane.ghost!;
  const x = across(scene, markX(layout, facts, node, offset)) + 11;
  const y = scene.yOf(lane) - view.y + lane.height / 2;
  const width = layout.isPhone ? 34 : 92;
  painter.rect(x, y - 7, width, 14, {
    ...{ fill: theme.accentSoft, stroke: theme.accent, dash: [3, 3], round: 7 },
  });
  painter.text(x + width / 2, y, layout.isPhone ? "new" : "new branch", {
    ...{ size: 10.5, weight: 600, fill: theme.accent, align: "center" },
  });
}

/** One trajectory; where its segments are, whose words stand above everything. */
function drawLane(painter: Painter, scene: Scene, lane: Lane, layer?: HeatLayer): Box[] {
  const { facts, layout, theme, view, passed, path } = scene;
  const y = scene.yOf(lane) - view.y;
  const middle = y + lane.height / 2;
  const { top, bottom } = barRoom(layout, y, lane.height);
  const isFaint = lane.gone ? 0.28 : lane.dim ? 0.3 : 1;
  const right = view.width - layout.gutter;
  const segments: Box[] = [];
  let end: number | undefined;
  let isWhole = true;
  for (const node of facts.own[lane.trajectory]!) {
    const { kind, parent } = facts.tree.nodes[node]!;
    if (written(scene, node) <= 0) {
      isWhole = false;
      break;
    }
    const [left, to] = reach(scene, node);
    const line = { stroke: theme.lineStrong, width: 1.25, alpha: isFaint, butt: true };
    if (end !== undefined && left > end + 1) painter.path(`M${end} ${middle}H${left}`, line);
    else if (parent < 0) painter.path(`M${across(scene, -9)} ${middle}H${left}`, line);
    end = to;
    if (!isAcross(scene, left, to)) continue;
    const alpha = passed?.has(node) ? 1 : isFaint;
    const box = { node, left, right: to, top, bottom, alpha };
    if (kind === "model") {
      drawSegment(painter, scene, box, layer);
      segments.push(box);
    } else {
      const share = written(scene, node);
      const whole = { ...box, top: y, bottom: y + lane.height, height: lane.height };
      drawChip(painter, scene, { ...whole, alpha: alpha * share });
    }
    if (facts.tree.marks) drawMarked(painter, scene, box);
  }
  if (end === undefined || end >= right || !isWhole || lane.trajectory === path) return segments;
  painter.path(`M${end + 4} ${middle}H${right + 2}`, {
    ...{ stroke: theme.line, dash: [1, 4], alpha: isFaint, butt: true },
  });
  return segments;
}

/** Breaks stand above the bars, of which some are pixels. */
function drawBreaks(painter: Painter, scene: Scene, lane: Lane): void {
  const { facts, layout, view } = scene;
  const { top, bottom } = barRoom(layout, scene.yOf(lane) - view.y, lane.height);
  for (const node of facts.own[lane.trajectory]!) {
    if (facts.tree.nodes[node]!.kind !== "model" || written(scene, node) < 1) continue;
    const [left, right] = reach(scene, node);
    const alpha = lane.gone || lane.dim ? 0.3 : 1;
    drawBreak(painter, scene, { node, left, right, top, bottom, alpha });
  }
}

/** Around what is selected, and what would not exist. */
function drawOutlines(painter: Painter, scene: Scene, lane: Lane): void {
  const { facts, layout, theme, view, selected, token } = scene;
  const own = facts.own[lane.trajectory]!;
  if (!lane.gone && !own.includes(selected)) return;
  const { top, bottom } = barRoom(layout, scene.yOf(lane) - view.y, lane.height);
  for (const node of own) {
    if (written(scene, node) <= 0) break;
    const [left, to] = reach(scene, node);
    if (!isAcross(scene, left, to)) continue;
    const { kind, length } = facts.tree.nodes[node]!;
    if (node === selected && token >= 0) {
      const perToken = (to - left) / length;
      painter.rect(left + token * perToken - 1, top - 2, perToken + 1, bottom - top + 4, {
        ...{ stroke: theme.ink, width: 1.5, round: 2 },
      });
    }
    if (node === selected) {
      const half = chipHeight(lane.height) / 2;
      const middle = scene.yOf(lane) - view.y + lane.height / 2;
      const [from, end] = kind === "tool" ? [middle - half, middle + half] : [top, bottom];
      painter.rect(left - 2, from - 2, to - left + 4, end - from + 4, {
        ...{ stroke: theme.accent, width: 2, round: 5 },
      });
    }
    if (lane.gone && kind === "model") {
      painter.rect(left, top, Math.max(2, to - left), bottom - top, {
        ...{ stroke: theme.ink3, dash: [3, 3], round: 3 },
      });
    }
  }
}

/** Each trajectory's number, at its elbow or, for those from the prompt, at the far left. */
function drawNumbers(painter: Painter, scene: Scene, lanes: readonly Lane[]): void {
  const { facts, layout, theme, view, moment, path } = scene;
  const right = view.width - layout.gutter;
  const highlighted = new Set(path >= 0 ? ancestors(facts, path) : []);
  for (const lane of lanes) {
    const { trajectory, height } = lane;
    if (trajectory < 0 || height < 10 || !begun(scene, trajectory)) continue;
    const { from } = facts.tree.trajectories[trajectory]!;
    const isUnder = layout.laneAt.has(facts.above[trajectory]!);
    const elbow = isUnder ? across(scene, markX(layout, facts, from)) - 7 : 0;
    const x = elbow > layout.left + 12 ? Math.min(elbow, right) : layout.left - 19;
    if (x >= right - 4) continue;
    const isNow = moment !== undefined && moment.at - moment.laneBorn[trajectory]! < 1.2;
    const on = highlighted.has(trajectory) || isNow;
    painter.text(x, scene.yOf(lane) - view.y + height / 2, String(trajectory), {
      ...{ align: "right", size: height < 16 ? 9.5 : 11, weight: on ? 700 : 400 },
      ...{ fill: on ? theme.accent : theme.ink3, alpha: lane.gone ? 0.7 : 1 },
    });
  }
}
