import { sans } from "./theme.js";

const widths = new Map<string, number>();
let context: CanvasRenderingContext2D | null | undefined;

const chipFont = `500 11px ${sans}`;

/** How wide a text is in the font of chips; every text is measured once. */
export function textWidth(text: string, font = chipFont): number {
  const key = font + text;
  let width = widths.get(key);
  if (width === undefined) {
    // Without a page, letters are taken to be as wide as they mostly are.
    if (typeof document !== "undefined") {
      context ??= document.createElement("canvas").getContext("2d");
    }
    if (context) context.font = font;
    width =
      context?.measureText(text).width ??
      0.55 * Number(/([\d.]+)px/.exec(font)?.[1] ?? 11) * text.length;
    widths.set(key, width);
  }
  return width;
}

/** As much of a text as fits. */
export function fitted(text: string, room: number, font = chipFont): string {
  if (textWidth(text, font) <= room) return text;
  let [low, high] = [0, text.length];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (textWidth(`${text.slice(0, middle)}…`, font) <= room) low = middle;
    else high = middle - 1;
  }
  return low === 0 ? "" : `${text.slice(0, low)}…`;
}
