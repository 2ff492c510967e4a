import { checkOptions, type OptionRules, texts } from "../../../common/options/check-options.js";
import { loadResvg } from "#platform/modules";
import { pageGround } from "../../../common/picture/palette.js";
import type { FigureLike } from "../../../common/picture/figure-like.js";
import type { LaterView, SelfShown } from "./shown.js";
import { toSvg } from "./to-svg.js";

export interface PngOptions {
  /** Pixels per unit of the figure (default 2). */
  scale?: number;
  /** Behind the figure, where its theme says nothing (default white; `transparent` for none). */
  background?: string;
  /** Fonts besides those of the system: files in TrueType or OpenType. Default: none. */
  fontFiles?: readonly string[];
}

export const pngRules: OptionRules<PngOptions> = {
  scale: {
    must: "a number above 0 and at most 16",
    holds: (scale) => typeof scale === "number" && scale > 0 && scale <= 16,
    number: true,
  },
  background: "text?",
  fontFiles: texts,
};

/**
 * A figure, anything that shows itself in a view, or any SVG, as the bytes of a PNG. It needs a font, and
 * no browser.
 *
 * @param figure a figure, a value that shows itself, or SVG
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { passAtKCurve, toPng } from "arpo-lab/view";
 *
 * const png = await toPng(passAtKCurve({ tiny: [{ n: 2, correct: 1 }] }));
 * assert.deepEqual([...png.subarray(1, 4)], [0x50, 0x4e, 0x47]); // "PNG"
 * ```
 */
export async function toPng(
  figure: FigureLike | SelfShown | LaterView | string,
  options: PngOptions = {},
): Promise<Uint8Array> {
  checkOptions("make a PNG", options, pngRules);
  const { scale = 2, background = pageGround.light.paper, fontFiles } = options;
  const svg = typeof figure === "string" ? figure : await toSvg(figure);
  const picture = await rendererOf("make a PNG", svg, fontFiles, {
    fitTo: { mode: "zoom", value: scale },
    ...(background === "transparent" ? {} : { background }),
  });
  return picture.render().asPng();
}

/** Font files with which, beside the system's fonts, a letter was written. */
const written = new Set<string>();

type Renderer = Awaited<ReturnType<typeof loadResvg>>["Resvg"];

/** What draws an SVG without a browser, once a font is there. */
export async function rendererOf(
  what: string,
  svg: string,
  fontFiles: readonly string[] = [],
  options: Omit<NonNullable<ConstructorParameters<Renderer>[1]>, "font"> = {},
): Promise<InstanceType<Renderer>> {
  const { Resvg } = await loadResvg();
  const font = { loadSystemFonts: true, fontFiles: [...fontFiles] };
  const letter = `<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><text y="8">x</text></svg>`;
  const known = fontFiles.join("\0");
  if (!written.has(known) && new Resvg(letter, { font }).getBBox() === undefined) {
    throw new Error(
      `Cannot ${what}: a font must be installed or given in fontFiles to write its texts, found none`,
    );
  }
  written.add(known);
  try {
    return new Resvg(svg, { ...options, font });
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new SyntaxError(`Cannot ${what}: the picture must be an SVG, got ${why}`);
  }
}
