import { checkArguments } from "../../arguments/check-arguments.js";
import { checkOptions } from "../../arguments/check-options.js";
import { writeFile } from "#platform/files";
import { extname } from "#platform/path";
import type { FigureLike } from "../../../picture/figure-like.js";
import { toHtml } from "./to-html.js";
import { type PngOptions, pngRules, toPng } from "./to-png.js";
import { toSvg } from "./to-svg.js";

/**
 * Writes a figure to a file: SVG, PNG, a page of its own or plotly's JSON, by its extension.
 *
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
  figure: FigureLike,
  options: PngOptions = {},
): Promise<void> {
  checkArguments(
    "save a figure",
    { path, figure },
    { path: "path", figure: { data: "list", layout: "object" } },
  );
  checkOptions("save a figure", options, pngRules);
  const kind = extname(path).toLowerCase();
  if (kind === ".svg") return writeFile(path, `${toSvg(figure)}\n`);
  if (kind === ".png") return writeFile(path, await toPng(figure, options));
  if (kind === ".html") return writeFile(path, toHtml(figure));
  if (kind === ".json") return writeFile(path, `${JSON.stringify(figure)}\n`);
  throw new RangeError(
    `Cannot save a figure: the path must end in .svg, .png, .html or .json, got ${path}`,
  );
}
