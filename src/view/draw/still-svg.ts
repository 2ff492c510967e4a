import { escapeHtml } from "../../../picture/escape.js";
import { mono, sans } from "./theme.js";

/** What stands in a picture besides its marks. */
export interface StillSvg {
  width: number;
  height: number;
  title: string;
  /** What it shows, in words. */
  words: string;
  parts: readonly string[];
  /** Of texts that say nothing else. */
  size?: number;
}

/** A picture that stands alone: its fonts, its ground and its words are in it. */
export function stillSvg({ width, height, title, words, parts, size }: StillSvg): string {
  const [wide, tall] = [width, height].map((x) => Math.round(x * 10) / 10);
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" width="${wide}" height="${tall}" viewBox="0 0 ${wide} ${tall}" ` +
    `style="max-width:100%;height:auto" font-family='${sans}'${size === undefined ? "" : ` font-size="${size}"`} role="img">` +
    `<title>${escapeHtml(title)}</title><desc>${escapeHtml(words)}</desc>` +
    `<style>.mono{font-family:${mono}}</style>${parts.join("")}</svg>`
  );
}
