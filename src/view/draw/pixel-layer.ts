/** A transparent picture that is written pixel by pixel: many thin bars cost less than as many rectangles. */
export class PixelLayer {
  readonly canvas = document.createElement("canvas");
  readonly #context = this.canvas.getContext("2d", { willReadFrequently: true });
  #image: ImageData | undefined;
  #pixels = new Uint32Array(0);

  /** Makes it empty, of a size in pixels of the screen. */
  clear(width: number, height: number): void {
    if (this.#image?.width !== width || this.#image.height !== height) {
      this.canvas.width = width;
      this.canvas.height = height;
      this.#image = new ImageData(width, height);
      this.#pixels = new Uint32Array(this.#image.data.buffer);
    } else this.#pixels.fill(0);
  }

  /** Fills a column from one row up to another. */
  column(x: number, from: number, to: number, colour: number): void {
    const { width, height } = this.canvas;
    if (x < 0 || x >= width) return;
    const pixels = this.#pixels;
    const last = Math.min(height, to) * width + x;
    for (let at = Math.max(0, from) * width + x; at < last; at += width) pixels[at] = colour;
  }

  /** Bars from a row upwards, a column each: they end at the rows `tops`; written by rows, as memory lies. */
  bars(first: number, last: number, low: number, tops: Int32Array, colours: Uint32Array): void {
    const { width, height } = this.#image!;
    const pixels = this.#pixels;
    const end = Math.min(last, width);
    let top = low;
    for (let x = first; x < end; x++) if (tops[x]! < top) top = tops[x]!;
    for (let y = Math.max(0, top); y < Math.min(low, height); y++) {
      const at = y * width;
      for (let x = first; x < end; x++) if (y >= tops[x]!) pixels[at + x] = colours[x]!;
    }
  }

  /** What was written, as a picture. */
  done(): HTMLCanvasElement {
    if (this.#image) this.#context?.putImageData(this.#image, 0, 0);
    return this.canvas;
  }
}

/** A colour as `#rrggbb` in the order of bytes that pictures have. */
export function pixelOf(colour: string, alpha = 1): number {
  const [red, green, blue] = [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16));
  return ((Math.round(255 * alpha) << 24) | (blue! << 16) | (green! << 8) | red!) >>> 0;
}
