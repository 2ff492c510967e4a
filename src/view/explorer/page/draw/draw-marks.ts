import type { Lane } from "../layout/lane-order.js";
import { markX } from "../layout/layout.js";
import type { Chance } from "../tree/decisions.js";
import type { ShownReplay } from "../tree/shown-replay.js";
import type { TreeFacts } from "../tree/tree-facts.js";
import type { Painter } from "../../../draw/painter.js";
import { across, type Scene } from "./scene.js";
import { heatStep, sans, type Theme } from "../../../draw/theme.js";
import { textWidth } from "../../../draw/text-width.js";

/** A place where something was, or would be, decided. */
interface Mark {
  node: number;
  offset: number | undefined;
  branch: boolean;
  /** With other settings it would be the other way round. */
  changed: boolean;
}

/** The marks of a node. */
export function marksOf(facts: TreeFacts, replay: ShownReplay, node: number): Mark[] {
  const attempts = replay.attempts.get(node);
  if (attempts) {
    const branch = attempts.some((attempt) => attempt.branch);
    const was = attempts.some((attempt) => attempt.was === true);
    return [{ node, offset: undefined, branch, changed: replay.decidesAnew && branch !== was }];
  }
  const made = facts.born[node]!.length > 0;
  const chosen = replay.changed ? replay.chosen.get(node) : undefined;
  if (chosen) {
    const { length, depth } = facts.tree.nodes[node]!;
    const offsets = new Map<number, boolean>();
    for (const { at, child } of chosen) {
      const offset = Math.min(length, at - depth);
      offsets.set(offset, (offsets.get(offset) ?? false) || child === undefined);
    }
    return [...offsets].map(([offset, isNew]) => ({
      ...{ node, branch: true, changed: isNew },
      offset: offset < length ? offset : undefined,
    }));
  }
  if (!made) return [];
  return [{ node, offset: undefined, branch: !replay.changed, changed: replay.changed }];
}

/** The share of entropy has a colour of the ramp. */
const entropyStep = heatStep(0.4);

/** Why: what the coin gives, what entropy adds to it, and where the draw fell. */
export function drawGauge(
  painter: Painter,
  theme: Theme,
  { base, probability, draw }: Chance,
  { x, y, wide }: { x: number; y: number; wide: number },
): void {
  const at = (share: number) => wide * Math.max(0, Math.min(1, share));
  const [coin, whole] = [at(Math.min(base, probability)), at(probability)];
  painter.rect(x, y - 4, wide, 8, { fill: theme.paper, stroke: theme.lineStrong, round: 2 });
  painter.rect(x, y - 4, coin, 8, { fill: theme.accent, alpha: 0.32 });
  painter.rect(x + coin, y - 4, whole - coin, 8, { fill: theme.heat[entropyStep]! });
  painter.path(`M${x + at(draw)} ${y - 7}v14`, { stroke: theme.ink, width: 1.8 });
}

/** ◆ branched, ○ no branch; ringed where other settings decide otherwise. */
export function drawMarks(painter: Painter, scene: Scene, lanes: readonly Lane[]): void {
  const { facts, layout, theme, moment, view } = scene;
  const right = view.width - layout.gutter;
  for (const lane of lanes) {
    if (lane.trajectory < 0 || lane.gone) continue;
    const y = scene.yOf(lane) - view.y + lane.height / 2;
    for (const id of facts.own[lane.trajectory]!) {
      if (moment && moment.at < (moment.decided.get(id) ?? moment.born[id]! + 1)) continue;
      for (const mark of marksOf(facts, scene.replay, id)) {
        const x = across(scene, markX(layout, facts, id, mark.offset));
        const chance = scene.replay.chances.get(id);
        if (chance && layout.gauge > 0 && mark.offset === undefined) {
          const at = { x: across(scene, layout.x1[id]!) + 4, y, wide: layout.gauge };
          drawGauge(painter, theme, chance, at);
        }
        if (x < layout.left - 8 || x > right + 8) continue;
        const size = layout.laneHeight < 16 ? 3.4 : layout.isPhone ? 4.6 : 5.6;
        const alpha = lane.dim && scene.passed?.has(id) !== true ? 0.35 : 1;
        if (mark.branch) {
          painter.path(`M${x} ${y - size}L${x + size} ${y}L${x} ${y + size}L${x - size} ${y}z`, {
            fill: theme.accent,
            stroke: theme.paper,
            width: 1.5,
            alpha,
          });
        } else {
          const look = { fill: theme.paper, stroke: theme.lineStrong, width: 1.5, alpha };
          painter.circle(x, y, size * 0.62, look);
        }
        const ring = { stroke: theme.accent, width: 1.6 };
        if (mark.changed) painter.circle(x, y, size + 3.5, { ...ring, dash: [2.5, 2.5] });
        if (scene.hoveredMark === id || scene.focusedMark === id) {
          painter.circle(x, y, size + 3, { ...ring, width: 2 });
        }
      }
    }
  }
}

/** The decision in words, at the mark that playback has come to. */
export function drawPill(painter: Painter, scene: Scene): void {
  const { facts, layout, theme, pill, focusedMark, view } = scene;
  if (pill === undefined || focusedMark < 0) return;
  const lane = layout.laneAt.get(Math.max(0, facts.tree.nodes[focusedMark]!.trajectory));
  if (!lane) return;
  const width = textWidth(pill, `600 11.5px ${sans}`) + 20;
  const beside = across(scene, markX(layout, facts, focusedMark)) + 13;
  const x = Math.max(4, Math.min(beside, view.width - width - 6));
  const y = scene.yOf(lane) - view.y + lane.height / 2;
  const branched = marksOf(facts, scene.replay, focusedMark).some(({ branch }) => branch);
  const fill = branched ? theme.accent : theme.ink2;
  painter.rect(x, y - 12, width, 24, { fill, round: 12 });
  painter.text(x + 10, y + 0.5, pill, { size: 11.5, weight: 600, fill: theme.paper });
}
