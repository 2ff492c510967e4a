import type { Replay } from "../../../rollout/replay/replay-result.js";
import type { Colouring } from "./colouring.js";
import type { Span } from "./paths.js";
import { placedPoints } from "./placed-points.js";
import type { PageTree } from "./unpack-tree.js";

/** What a drawing of the tree depends on. */
export interface Scene {
  tree: PageTree;
  colouring: Colouring;
  replay: Replay;
  ink: string;
  accent: string;
  /** What was painted of each node already, in these colours. */
  strips: Map<number, HTMLCanvasElement>;
  /** Where each node begins and ends, in tokens or milliseconds. */
  spans: readonly Span[];
  /** Room for the numbers of the rows that start at the prompt. */
  inset: number;
  /** Pixels per token (or millisecond) and per row, and the part that is in view. */
  scale: number;
  lane: number;
  left: number;
  top: number;
  width: number;
  height: number;
  selected: number;
  /** Nodes that are not dimmed; undefined for all. */
  shown: Set<number> | undefined;
  /** Where two rows part, in tokens. */
  parting: number | undefined;
}

/** Draws what is in view of the tree. */
export function drawTree(context: CanvasRenderingContext2D, scene: Scene): void {
  const { tree, colouring, scale, lane, left, top, width, height } = scene;
  const missing = new Set(scene.replay.missing);
  const laneOf = (trajectory: number) => Math.max(0, trajectory);
  const x = (depth: number) => scene.inset + depth * scale - left;
  const y = (trajectory: number) => laneOf(trajectory) * lane - top;
  const inView = (trajectory: number) => y(trajectory) > -lane && y(trajectory) < height;
  context.clearRect(0, 0, width, height);

  context.strokeStyle = scene.ink;
  context.lineWidth = 1;
  tree.trajectories.forEach(({ kind, parent, from }, trajectory) => {
    // Rows of imported files share beginnings without being branches.
    const above = kind === "branch" ? parent : (tree.nodes[from]?.trajectory ?? -1);
    if (from < 0 || above < 0) return;
    const [a, b] = [y(above), y(trajectory)];
    const at = x(scene.spans[from]!.to);
    if (b < -lane || a > height || at < 0 || at > width) return;
    context.globalAlpha = missing.has(trajectory) ? 0.2 : 0.55;
    context.beginPath();
    context.moveTo(at, a + lane / 2);
    context.lineTo(at, b + lane / 2);
    context.stroke();
  });

  tree.nodes.forEach((node, id) => {
    const [from, to] = [x(scene.spans[id]!.from), x(scene.spans[id]!.to)];
    if (!inView(node.trajectory) || to < 0 || from > width) return;
    const at = y(node.trajectory) + 3;
    const tall = lane - 7;
    context.globalAlpha = missing.has(node.trajectory) || scene.shown?.has(id) === false ? 0.22 : 1;
    if (node.kind !== "model") {
      context.fillStyle = node.kind === "tool" ? "#5f9e8f" : "#888888";
      context.fillRect(from, at + tall / 4, Math.max(1, to - from - 1), tall / 2);
    } else {
      drawTokens(node, id, from, Math.max(from + 1, to - 1), at, tall);
    }
    if (id !== scene.selected) return;
    context.globalAlpha = 1;
    context.strokeStyle = scene.accent;
    context.lineWidth = 2;
    context.strokeRect(from - 1, at - 1, Math.max(3, to - from + 1), tall + 2);
    context.lineWidth = 1;
  });

  if (scene.replay.attempts.length > 0) drawAttempts();
  else drawPoints();
  drawRows();
  if (scene.parting !== undefined) {
    context.globalAlpha = 1;
    context.strokeStyle = scene.accent;
    context.setLineDash([4, 3]);
    context.beginPath();
    context.moveTo(x(scene.parting), 0);
    context.lineTo(x(scene.parting), height);
    context.stroke();
    context.setLineDash([]);
  }
  context.globalAlpha = 1;

  /** A node's tokens, painted once as a strip of a pixel each (fewer where several share one). */
  function drawTokens(
    node: PageTree["nodes"][number],
    id: number,
    from: number,
    to: number,
    at: number,
    tall: number,
  ): void {
    if (node.length === 0) return;
    const count = Math.max(1, Math.min(node.length, Math.ceil(to - from)));
    let strip = scene.strips.get(id);
    if (strip?.width !== count) {
      strip = document.createElement("canvas");
      strip.width = count;
      strip.height = 1;
      scene.strips.set(id, strip);
      const paint = strip.getContext("2d")!;
      const share = node.length / count;
      for (let i = 0; i < count; i++) {
        const value = gathered(node, id, Math.floor(i * share), Math.floor((i + 1) * share));
        paint.fillStyle = colouring.colour(value);
        paint.fillRect(i, 0, 1, 1);
      }
    }
    context.imageSmoothingEnabled = false;
    context.drawImage(strip, from, at, to - from, tall);
    context.strokeStyle = "rgba(128,128,128,.45)";
    context.strokeRect(from, at, to - from, tall);
  }

  function gathered(node: PageTree["nodes"][number], id: number, from: number, to: number): number {
    let result = NaN;
    let count = 0;
    for (let t = from; t < Math.max(from + 1, Math.min(to, node.length)); t++) {
      const value = colouring.value(node.start + t, id);
      if (Number.isNaN(value)) continue;
      count++;
      if (count === 1) result = value;
      else if (colouring.gather === "max") result = Math.max(result, value);
      else if (colouring.gather === "min") result = Math.min(result, value);
      else result += (value - result) / count;
    }
    return result;
  }

  /** Each row's number before its first own token, and its score behind its last. */
  function drawRows(): void {
    context.font = "11px system-ui, sans-serif";
    context.textBaseline = "middle";
    context.fillStyle = scene.ink;
    const first = new Map<number, number>();
    tree.nodes.forEach(({ trajectory }, id) => {
      if (!first.has(laneOf(trajectory))) first.set(laneOf(trajectory), id);
    });
    tree.trajectories.forEach(({ leaf, score, kind, from }, trajectory) => {
      if (!inView(trajectory)) return;
      const begin = first.get(trajectory);
      const middle = y(trajectory) + lane / 2 - 0.5;
      const own = begin === undefined ? from : begin;
      if (own < 0) return;
      const start = x(begin === undefined ? scene.spans[own]!.to : scene.spans[own]!.from);
      context.globalAlpha = missing.has(trajectory) ? 0.25 : 0.7;
      context.textAlign = "right";
      context.fillText(String(trajectory), start - (kind === "branch" ? 9 : 6), middle);
      if (score == null || leaf < 0) return;
      context.textAlign = "left";
      context.globalAlpha = missing.has(trajectory) ? 0.25 : 1;
      context.fillText(String(Number(score.toPrecision(3))), x(scene.spans[leaf]!.to) + 8, middle);
    });
    context.textAlign = "left";
    context.globalAlpha = 1;
  }

  /** A mark at each place that a rule chose: full, and ringed where the tree does not have the row. */
  function drawPoints(): void {
    for (const { node: id, offset, points } of placedPoints(tree, scene.replay.points)) {
      const { from, to } = scene.spans[id]!;
      const { length, trajectory } = tree.nodes[id]!;
      const at = x(from + (to - from) * (length > 0 ? offset / length : 0));
      if (!inView(trajectory) || at < -6 || at > width + 6) continue;
      const isNew = points.some(({ child }) => child === undefined);
      context.globalAlpha = scene.shown?.has(id) === false ? 0.22 : 1;
      mark(at, y(trajectory) + lane / 2 - 0.5, true, isNew);
    }
  }

  /** A mark after each node where something was decided: full if it branches, ringed if it changed. */
  function drawAttempts(): void {
    const marks = new Map<number, { trajectory: number; branch: boolean; changed: boolean }>();
    for (const { node, trajectory, branch, was } of scene.replay.attempts) {
      const mark = marks.get(node) ?? { trajectory, branch: false, changed: false };
      mark.branch ||= branch;
      mark.changed ||= was !== branch;
      marks.set(node, mark);
    }
    for (const [id, { trajectory, branch, changed }] of marks) {
      const at = x(scene.spans[id]!.to);
      if (!inView(trajectory) || at < -6 || at > width + 6) continue;
      const middle = y(trajectory) + lane / 2 - 0.5;
      context.globalAlpha = scene.shown?.has(id) === false ? 0.22 : 1;
      mark(at, middle, branch, changed);
    }
  }

  function mark(at: number, middle: number, isFull: boolean, isRinged: boolean): void {
    context.beginPath();
    context.arc(at, middle, 3.5, 0, 2 * Math.PI);
    context.fillStyle = isFull ? scene.accent : "#ffffff";
    context.fill();
    context.strokeStyle = scene.ink;
    context.stroke();
    if (!isRinged) return;
    context.beginPath();
    context.arc(at, middle, 6.5, 0, 2 * Math.PI);
    context.strokeStyle = scene.accent;
    context.stroke();
  }
}
