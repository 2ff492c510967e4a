import type { Layout } from "../layout/layout.js";
import { PixelLayer, pixelOf } from "../../../draw/pixel-layer.js";
import type { Scene } from "./scene.js";
import { heatStep } from "../../../draw/theme.js";

interface MinimapSize {
  width: number;
  height: number;
  ratio: number;
}

/** The whole tree in a column beside it, with what is in view marked. */
export class Minimap {
  readonly canvas: HTMLCanvasElement;
  readonly #pixels = new PixelLayer();
  #painted: unknown[] = [];

  constructor(canvas: HTMLCanvasElement) {
    this.canvas = canvas;
  }

  /** Shows where the view is; the heat below is painted once per outline, a layout of the same lanes. */
  draw(scene: Scene, outline: Layout): void {
    const { layout, view, theme } = scene;
    const ratio = devicePixelRatio || 1;
    const { width, height } = this.#size(layout, ratio);
    const context = this.canvas.getContext("2d");
    if (!context) return;
    const depends = [outline, scene.bins, theme, width, height, ratio];
    if (depends.some((each, i) => each !== this.#painted[i])) {
      this.#painted = depends;
      paintHeat(this.#pixels, { ...scene, layout: outline }, { width, height, ratio });
      this.#pixels.done();
    }
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.clearRect(0, 0, this.canvas.width, this.canvas.height);
    context.drawImage(this.#pixels.canvas, 0, 0);
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

/** Paints the whole tree, a few pixels for each segment. */
function paintHeat(pixels: PixelLayer, scene: Scene, size: MinimapSize): void {
  const { facts, layout, theme, bins, measure } = scene;
  const { width, height, ratio } = size;
  pixels.clear(Math.round(width * ratio), Math.round(height * ratio));
  const [tool, right, wrong] = [theme.toolLine, theme.right, theme.wrong].map((c) => pixelOf(c));
  const heat = theme.heat.map((colour) => pixelOf(colour));
  const perLane = (height - 8) / Math.max(1, layout.lanes.length);
  const perPixel = (width - 14) / layout.totalWidth;
  layout.lanes.forEach(({ trajectory }, i) => {
    if (trajectory < 0) return;
    const y = 4 + i * perLane;
    const tall = Math.max(1, Math.min(perLane * 0.8, perLane - 0.6));
    const fill = (from: number, to: number, top: number, bottom: number, colour: number) => {
      const last = Math.max(Math.round(from * ratio) + 1, Math.round(to * ratio));
      const low = Math.max(Math.round(top * ratio) + 1, Math.round(bottom * ratio));
      for (let x = Math.round(from * ratio); x < last; x++) {
        pixels.column(x, Math.round(top * ratio), low, colour);
      }
    };
    for (const id of facts.own[trajectory]!) {
      const x = 3 + layout.x0[id]! * perPixel;
      const wide = Math.max(1, (layout.x1[id]! - layout.x0[id]!) * perPixel);
      if (facts.tree.nodes[id]!.kind !== "model") {
        fill(x, x + wide, y + tall * 0.3, y + tall * 0.7, tool!);
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
        const colour = signed >= 0 ? right! : wrong!;
        fill(x + z, x + z + 1, y, y + tall, measure.sides ? colour : heat[heatStep(level)]!);
      }
    }
    if (facts.verdicts[trajectory] === "right") fill(width - 8, width - 3, y, y + tall, right!);
  });
}
