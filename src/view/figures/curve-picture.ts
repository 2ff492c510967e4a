import { escapeHtml } from "../../../common/picture/escape.js";
import type { CurvePanel } from "../draw/draw-panel.js";
import { type Panels, panelsPicture } from "../draw/panels-picture.js";
import { paletteOf, type Figure, type FigureOptions } from "./figure.js";

/** What a figure of curves is drawn of. */
export interface Curves {
  runs: readonly string[];
  panels: readonly CurvePanel[];
  /** Lines below the panels: what the bands are. */
  below: readonly string[];
}

/** From here on a place is wide. */
const narrowest = 560;

const style = `.arpo-curves{container-type:inline-size}.arpo-curves>*{overflow-x:auto}
@container (max-width:${narrowest}px){.arpo-curves>[data-wide]{display:none}}
@container (min-width:${narrowest + 1}px){.arpo-curves>[data-narrow]{display:none}}`;

/**
 * Gives a figure the board's own picture: curves with their bands on one axis, in the size that a cell, a page or a phone
 * has room for. The figure stays what it is for programs that read plotly.
 */
export function withCurves(figure: Figure, curves: Curves, options: FigureOptions): Figure {
  const { description } = figure.layout.meta;
  const steps = curves.panels.flatMap((panel) => panel.curves.flatMap(({ x }) => x));
  const [from, to] = steps.reduce(
    ([low, high], step) => [Math.min(low, step), Math.max(high, step)],
    [steps[0] ?? 0, steps[0] ?? 0],
  );
  const { text } = figure.layout["title"] as { text: string };
  const panels: Panels = {
    ...{ title: text, from, to, panels: curves.panels, below: curves.below },
    runs: curves.runs.map((name) => ({ name })),
  };
  const { theme } = options;
  const own = paletteOf(options).ink;
  const draw = (width: number, most: number, ink = own) => {
    const columns = Math.max(1, Math.min(most, curves.panels.length));
    const size = { width: Math.floor(width / columns), height: columns > 1 ? 190 : 240 };
    return panelsPicture(panels, {
      theme,
      columns,
      ...size,
      ...(ink === undefined ? {} : { ink }),
    });
  };
  // In a page text has the page's colour.
  const ink = own ?? "currentColor";
  const bundle = () => ({
    "text/html":
      `<style>${style}</style><figure class="arpo-curves" style="margin:0" aria-label="${escapeHtml(description)}">` +
      `<div data-wide>${draw(720, 2, ink)}</div><div data-narrow>${draw(340, 1, ink)}</div></figure>`,
    "image/svg+xml": draw(720, 2),
    "text/plain": description,
  });
  Object.defineProperty(figure, Symbol.for("Jupyter.display"), { value: bundle });
  return figure;
}
