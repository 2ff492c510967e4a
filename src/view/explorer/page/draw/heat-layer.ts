import type { BarPlace } from "./draw-segment.js";
import { PixelLayer, pixelOf } from "./pixel-layer.js";
import type { Scene } from "./scene.js";
import { heatStep, type Theme } from "./theme.js";

/** The bars of segments with many tokens per pixel, all of a frame in one picture. */
export class HeatLayer {
  readonly #pixels = new PixelLayer();
  readonly #colours = new Map<number, number[]>();
  #theme: Theme | undefined;
  #ratio = 1;

  /** Begins a frame. */
  begin({ view, theme }: Scene): void {
    this.#ratio = devicePixelRatio || 1;
    if (this.#theme !== theme) this.#colours.clear();
    this.#theme = theme;
    this.#pixels.clear(Math.round(view.width * this.#ratio), Math.round(view.height * this.#ratio));
  }

  /** Adds bars, a column of the screen for each or for several of them. */
  add(
    levels: Float32Array,
    { left, top, bottom, each, from, to, alpha }: BarPlace & { alpha: number },
  ): void {
    const ratio = this.#ratio;
    const colours = this.#coloursAt(alpha);
    const low = Math.round(bottom * ratio);
    const height = (bottom - top) * ratio;
    const last = Math.round((left + to * each) * ratio);
    for (let x = Math.round((left + from * each) * ratio); x < last; x++) {
      const bar = Math.floor(((x + 0.5) / ratio - left) / each);
      const level = levels[Math.min(levels.length - 1, Math.max(0, bar))]!;
      if (Number.isNaN(level)) continue;
      const tall = Math.round(Math.max(1.5 * ratio, level * height));
      this.#pixels.column(x, low - tall, low, colours[heatStep(level)]!);
    }
  }

  /** The frame's picture. */
  done(): HTMLCanvasElement {
    return this.#pixels.done();
  }

  #coloursAt(alpha: number): number[] {
    let colours = this.#colours.get(alpha);
    if (!colours) {
      colours = this.#theme!.heat.map((colour) => pixelOf(colour, alpha));
      this.#colours.set(alpha, colours);
    }
    return colours;
  }
}
