import type { Layout } from "../layout/layout.js";
import type { Scene } from "./scene.js";
import { heatStep } from "./theme.js";

/** The whole tree in a column beside it, with what is in view marked. */
export class Minimap {
  readonly canvas: HTMLCanvasElement;
  #heat: { scene: unknown[]; canvas: HTMLCanvasElement } | undefined;

  constructor(canvas: HTMLCanvasElement) {
    this.canvas = canvas;
  }

  /** Shows where the view is; the heat below is painted once per layout. */
  draw(scene: Scene): void {
    const { layout, view, theme } = scene;
    const ratio = devicePixelRatio || 1;
    const { width, height } = this.#size(layout, ratio);
    const context = this.canvas.getContext("2d");
    if (!context) return;
    const depends = [layout, scene.bins, theme, width, height, ratio];
    if (!this.#heat?.scene.every((each, i) => each === depends[i])) {
      this.#heat = { scene: depends, canvas: paintHeat(scene, width, height, ratio) };
    }
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.clearRect(0, 0, this.canvas.width, this.canvas.height);
    context.drawImage(this.#heat.canvas, 0, 0);
    context.scale(ratio, ratio);
    const span = layout.totalHeight - layout.head;
    const place = (y: number) => 4 + (y / span) * (height - 8);
    const [from, to] = [place(view.y), place(view.y + view.height - layout.head)];
    context.fillStyle = theme.accent;
    context.globalAlpha = 0.12;
    context.fillRect(1, from, width - 2, to - from);
    context.globalAlpha = 1;
    context.strokeStyle = theme.accent;
    context.lineWidth = 1.5;
    context.strokeRect(1.5, from, width - 3, Math.min(height - from - 1, to - from));
  }

  #size(layout: Layout, ratio: number): { width: number; height: number } {
    const width = this.canvas.clientWidth || 64;
    const height = layout.viewHeight;
    this.canvas.style.height = `${height}px`;
    const [wide, high] = [Math.round(width * ratio), Math.round(height * ratio)];
    if (this.canvas.width !== wide) this.canvas.width = wide;
    if (this.canvas.height !== high) this.canvas.height = high;
    return { width, height };
  }
}

function paintHeat(scene: Scene, width: number, height: number, ratio: number): HTMLCanvasElement {
  const { facts, layout, theme, bins, measure } = scene;
  const canvas = document.createElement("canvas");
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(height * ratio);
  const context = canvas.getContext("2d");
  if (!context) return canvas;
  context.scale(ratio, ratio);
  const perLane = (height - 8) / Math.max(1, layout.lanes.length);
  const perPixel = (width - 14) / layout.totalWidth;
  layout.lanes.forEach(({ trajectory }, i) => {
    if (trajectory < 0) return;
    const y = 4 + i * perLane;
    const tall = Math.max(1, Math.min(perLane * 0.8, perLane - 0.6));
    for (const id of facts.own[trajectory]!) {
      const x = 3 + layout.x0[id]! * perPixel;
      const wide = Math.max(1, (layout.x1[id]! - layout.x0[id]!) * perPixel);
      if (facts.tree.nodes[id]!.kind !== "model") {
        context.fillStyle = theme.toolLine;
        context.fillRect(x, y + tall * 0.3, wide, tall * 0.4);
        continue;
      }
      const levels = bins.coarse(id);
      const count = Math.max(1, Math.round(wide));
      for (let z = 0; z < count; z++) {
        const from = Math.floor((z * levels.length) / count);
        const to = Math.max(from + 1, Math.floor(((z + 1) * levels.length) / count));
        // A damped maximum: one peak among hundreds of tokens is no dark stripe.
        let level = 0;
        let signed = 0;
        for (let u = from; u < to; u++) {
          level = Math.max(level * 0.8, Math.abs(levels[u] ?? 0) || 0);
          signed += levels[u] ?? 0;
        }
        const colour = signed >= 0 ? theme.right : theme.wrong;
        context.fillStyle = measure.isSigned ? colour : theme.heat[heatStep(level)]!;
        context.fillRect(x + z, y, 1.1, tall);
      }
    }
    if (facts.verdicts[trajectory] === "right") {
      context.fillStyle = theme.right;
      context.fillRect(width - 8, y, 5, tall);
    }
  });
  return canvas;
}
