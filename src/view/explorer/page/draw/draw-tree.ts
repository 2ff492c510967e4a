import type { Lane } from "../layout/lane-order.js";
import { markX } from "../layout/layout.js";
import { ancestors } from "../tree/tree-facts.js";
import { drawGutter } from "./draw-gutter.js";
import { drawHead } from "./draw-head.js";
import { drawLinks, drawPath, drawTrunk } from "./draw-links.js";
import { drawMarks, drawPill } from "./draw-marks.js";
import { drawChip, drawSegment, isAcross, reach } from "./draw-segment.js";
import type { Painter } from "./painter.js";
import { across, barRoom, begun, type Scene, written } from "./scene.js";

/** Draws what is in view of the tree: the one drawing of screen, SVG and PNG. */
export function drawTree(painter: Painter, scene: Scene): void {
  const { layout, theme, view, path, compared } = scene;
  const right = view.width - layout.gutter;
  painter.rect(0, 0, view.width, view.height, { fill: theme.paper });
  const lanes = layout.lanes.filter((lane) => {
    const y = scene.yOf(lane) - view.y;
    return y < view.height && y + lane.height > layout.head;
  });
  const room = { width: Math.max(0, right - layout.left + 16), height: view.height - layout.head };
  painter.clip(layout.left - 14, layout.head, room.width, room.height, () => {
    drawTurnColumns(painter, scene);
    drawLinks(painter, scene);
    for (const lane of lanes) {
      if (lane.ghost) drawGhost(painter, scene, lane);
      else if (begun(scene, lane.trajectory)) drawLane(painter, scene, lane);
    }
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

function drawLane(painter: Painter, scene: Scene, lane: Lane): void {
  const { facts, layout, theme, view, passed, path, selected } = scene;
  const y = scene.yOf(lane) - view.y;
  const middle = y + lane.height / 2;
  const { top, bottom } = barRoom(layout, y, lane.height);
  const isFaint = lane.gone ? 0.28 : lane.dim ? 0.3 : 1;
  const right = view.width - layout.gutter;
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
    if (kind === "model") drawSegment(painter, scene, box);
    else {
      const share = written(scene, node);
      const whole = { ...box, top: y, bottom: y + lane.height, height: lane.height };
      drawChip(painter, scene, { ...whole, alpha: alpha * share });
    }
    if (node === selected) {
      painter.rect(left - 2, top - 2, to - left + 4, bottom - top + 4, {
        ...{ stroke: theme.accent, width: 2, round: 5 },
      });
    }
    if (lane.gone && kind === "model") {
      painter.rect(left, top, Math.max(2, to - left), bottom - top, {
        ...{ stroke: theme.ink3, dash: [3, 3], round: 3 },
      });
    }
  }
  if (end === undefined || end >= right || !isWhole || lane.trajectory === path) return;
  painter.path(`M${end + 4} ${middle}H${right + 2}`, {
    ...{ stroke: theme.line, dash: [1, 4], alpha: isFaint, butt: true },
  });
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
