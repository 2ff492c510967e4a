import { markX } from "../layout/layout.js";
import { laneOf } from "../tree/paths.js";
import { ancestors } from "../tree/tree-facts.js";
import type { Look, Painter } from "./painter.js";
import { across, begun, chipHeight, type Scene, written } from "./scene.js";

/** Elbows from branch points to the trajectories that start there. */
export function drawLinks(painter: Painter, scene: Scene): void {
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
    const room = facts.tree.nodes[from]!.kind === "tool" ? layout.gap : layout.cut;
    const x = across(scene, markX(layout, facts, from, ghost?.offset));
    const round = Math.max(0, Math.min(8, (y1 - y0) / 2, room / 2));
    const on = highlighted.has(trajectory);
    const look: Look = {
      stroke: ghost || on ? theme.accent : theme.lineStrong,
      width: on ? 2.5 : 1.5,
      alpha: lane.dim && !on ? 0.4 : 1,
      ...(ghost || lane.gone ? { dash: [3, 3] } : {}),
    };
    const end = Math.max(x + round, x + room / 2);
    painter.path(`M${x} ${y0}V${y1 - round}Q${x} ${y1} ${x + round} ${y1}H${end}`, look);
  }
}

/** The line from the prompt along the first trajectories. */
export function drawTrunk(painter: Painter, scene: Scene): void {
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
export function drawPath(
  painter: Painter,
  scene: Scene,
  trajectory: number,
  second: boolean,
): void {
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
