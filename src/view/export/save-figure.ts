import { checkArguments } from "../../../common/options/check-arguments.js";
import { checkOptions, optionsFor } from "../../../common/options/check-options.js";
import { writeFile } from "#platform/files";
import { extname } from "#platform/path";
import type { FigureLike } from "../../../common/picture/figure-like.js";
import { isFigure, type LaterView, type SelfShown } from "./shown.js";
import { toHtml } from "./to-html.js";
import { pdfRules, toPdf } from "./to-pdf.js";
import { type PngOptions, pngRules, toPng } from "./to-png.js";
import { toSvg } from "./to-svg.js";

/**
 * Writes a figure, or anything that shows itself in a view, to a file: SVG, PNG, PDF, a page of its own or, of figures, plotly's
 * JSON, by its extension.
 *
 * @param path the file; its extension selects the format
 * @param figure a figure, or a value that shows itself
 * @example
 * ```ts
 * import { mkdtemp, rm } from "node:fs/promises";
 * import { tmpdir } from "node:os";
 * import { join } from "node:path";
 * import { passAtKCurve, saveFigure } from "arpo-lab/view";
 *
 * const folder = await mkdtemp(join(tmpdir(), "figure-"));
 * await saveFigure(join(folder, "pass.svg"), passAtKCurve({ tiny: [{ n: 2, correct: 1 }] }));
 * await rm(folder, { recursive: true });
 * ```
 */
export async function saveFigure(
  path: string,
  figure: FigureLike | SelfShown | LaterView,
  options: PngOptions = {},
): Promise<void> {
  checkArguments("save a figure", { path, figure }, { path: "path", figure: "object" });
  checkOptions("save a figure", options, pngRules);
  const kind = extname(path).toLowerCase();
  if (kind === ".svg") return writeFile(path, `${await toSvg(figure)}\n`);
  if (kind === ".png") return writeFile(path, await toPng(figure, options));
  if (kind === ".pdf") return writeFile(path, await toPdf(figure, optionsFor(pdfRules, options)));
  if (kind === ".html") return writeFile(path, await toHtml(figure));
  if (kind === ".json" && isFigure(figure)) return writeFile(path, `${JSON.stringify(figure)}\n`);
  throw new RangeError(
    `Cannot save a figure: the path must end in ${isFigure(figure) ? ".svg, .png, .pdf, .html or .json" : ".svg, .png, .pdf or .html"}, got ${path}`,
  );
}
