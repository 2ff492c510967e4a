import { PixelLayer, pixelOf } from "../../../draw/pixel-layer.js";
import { heatStep, type Theme } from "../../../draw/theme.js";

/** Where bars are drawn, and which of them. */
export interface BarPlace {
  from: number;
  to: number;
  left: number;
  top: number;
  bottom: number;
  each: number;
}

/** The bars of segments with many tokens per pixel, all of a frame in one picture. */
export class HeatLayer {
  readonly #pixels = new PixelLayer();
  readonly #colours = new Map<number, number[]>();
  #theme: Theme | undefined;
  #ratio = 1;

  /** Begins a frame. */
  begin({ width, height }: { width: number; height: number }, theme: Theme): void {
    this.#ratio = devicePixelRatio || 1;
    if (this.#theme !== theme) this.#colours.clear();
    this.#theme = theme;
    this.#pixels.clear(Math.round(width * this.#ratio), Math.round(height * this.#ratio));
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
