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

/**
 * Which bar a column of the screen belongs to; -1 for the space after one. Bars that are wide enough are a pixel of the
 * page apart, at whatever fraction of one they begin.
 */
export function barAt(x: number, left: number, each: number, ratio: number): number {
  const at = (column: number) => Math.max(0, Math.floor(((column + 0.5) / ratio - left) / each));
  const bar = at(x);
  return each >= 4 && at(x + Math.max(1, Math.round(ratio))) > bar ? -1 : bar;
}

/** The bars of segments with thin bars, all of a frame in one picture, which is kept while nothing of it changes. */
export class HeatLayer {
  readonly #pixels = new PixelLayer();
  readonly #colours = new Map<number, Uint32Array>();
  #theme: Theme | undefined;
  #ratio = 1;
  #tops = new Int32Array(0);
  #columns = new Uint32Array(0);
  #drawn: unknown[] = [];
  #isKept = false;

  /** Says what the next frame's bars depend on: with the same as before, the picture stays as it is. */
  dependOn(depends: unknown[]): void {
    this.#isKept = depends.every((each, i) => each === this.#drawn[i]);
    this.#drawn = depends;
  }

  /** Begins a frame. */
  begin({ width, height }: { width: number; height: number }, theme: Theme): void {
    if (this.#isKept) return;
    this.#ratio = devicePixelRatio || 1;
    if (this.#theme !== theme) this.#colours.clear();
    this.#theme = theme;
    const wide = Math.round(width * this.#ratio);
    this.#pixels.clear(wide, Math.round(height * this.#ratio));
    if (this.#tops.length === wide) return;
    this.#tops = new Int32Array(wide);
    this.#columns = new Uint32Array(wide);
  }

  /** Adds bars, a column of the screen for each or for several of them. */
  add(
    levels: Float32Array,
    { left, top, bottom, each, from, to, alpha }: BarPlace & { alpha: number },
  ): void {
    if (this.#isKept) return;
    const ratio = this.#ratio;
    const colours = this.#coloursAt(alpha);
    const low = Math.round(bottom * ratio);
    const height = (bottom - top) * ratio;
    const first = Math.max(0, Math.round((left + from * each) * ratio));
    const [tops, columns] = [this.#tops, this.#columns];
    const last = Math.min(tops.length, Math.round((left + to * each) * ratio));
    for (let x = first; x < last; x++) {
      const level = levels[barAt(x, left, each, ratio)] ?? NaN;
      if (Number.isNaN(level)) {
        tops[x] = low;
        continue;
      }
      tops[x] = low - Math.round(Math.max(1.5 * ratio, level * height));
      columns[x] = colours[heatStep(level)]!;
    }
    this.#pixels.bars(first, last, low, tops, columns);
  }

  /** The frame's picture. */
  done(): HTMLCanvasElement {
    return this.#isKept ? this.#pixels.canvas : this.#pixels.done();
  }

  #coloursAt(alpha: number): Uint32Array {
    let colours = this.#colours.get(alpha);
    if (!colours) {
      colours = Uint32Array.from(this.#theme!.heat, (colour) => pixelOf(colour, alpha));
      this.#colours.set(alpha, colours);
    }
    return colours;
  }
}
