import { checkArguments } from "../../../common/options/check-arguments.js";
import { oneOf, type OptionRules } from "../../../common/options/check-options.js";
import { numberText } from "../page/words.js";
import { type Palette, palettes, type Theme } from "../../../common/picture/palette.js";

/** A plotly figure: what every front end that knows plotly draws. */
export interface Figure {
  data: Record<string, unknown>[];
  layout: Record<string, unknown> & { meta: { description: string } };
}

export interface FigureOptions {
  /** Who it is for; by default colours that suit light and dark pages. */
  theme?: Theme;
  /** Another title than the figure's own. Default: the figure's own. */
  title?: string;
}

export const themeRule = oneOf(Object.keys(palettes));

export const figureRules: OptionRules<FigureOptions> = {
  theme: themeRule,
  title: "text?",
};

/** Titles of a figure and its axes, and what it says in words. */
interface FigureWords {
  title: string;
  x: string;
  y: string;
  description: string;
}

/** Traces with the words and the colours of a theme. */
export function makeFigure(
  data: Record<string, unknown>[],
  words: FigureWords,
  options: FigureOptions = {},
  layout: Record<string, unknown> = {},
): Figure {
  const { series, ink, paper } = paletteOf(options);
  const axes = { xaxis: { title: { text: words.x } }, yaxis: { title: { text: words.y } } };
  const given = layout as { xaxis?: object; yaxis?: object };
  return {
    data,
    layout: {
      title: { text: options.title ?? words.title },
      colorway: [...series],
      ...(ink === undefined ? {} : { font: { color: ink } }),
      ...(paper === undefined ? {} : { paper_bgcolor: paper, plot_bgcolor: paper }),
      ...layout,
      xaxis: { ...axes.xaxis, ...given.xaxis },
      yaxis: { ...axes.yaxis, ...given.yaxis },
      meta: { description: words.description },
    },
  };
}

/** The colours a figure is to be drawn in. */
export const paletteOf = ({ theme = "auto" }: FigureOptions): Palette => palettes[theme];

// How the lines of a figure are dashed, in order: distinguished without colour, also in print.
const dashes = ["solid", "dash", "dot", "dashdot"] as const;

/** A line of a figure by its place among the figure's lines, which decides its colour and its dashes. */
export function curve(options: FigureOptions, i: number, points: Record<string, unknown>) {
  const { series } = paletteOf(options);
  const line = { color: series[i % series.length]!, dash: dashes[i % dashes.length]! };
  return { type: "scatter", mode: "lines", ...points, line };
}

/** A ramp as plotly reads it. */
export const colorscale = (ramp: readonly string[]): [number, string][] =>
  ramp.map((colour, i) => [i / (ramp.length - 1), colour]);

/** A number in a sentence. */
export const said = (x: number): string => numberText(x, 3);

/**
 * What a figure shows, in words: for readers who do not see it, and for logs.
 *
 * @param figure a figure that a function of `arpo-lab/view` returned
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { describe, passAtKCurve } from "arpo-lab/view";
 *
 * const figure = passAtKCurve({ tiny: [{ n: 2, correct: 1 }] });
 * assert.equal(describe(figure), "pass@k over 1 task: tiny rises from 0.5 at k = 1 to 1 at k = 2.");
 * ```
 */
export function describe(figure: Figure): string {
  checkArguments("describe a figure", { figure }, { figure: { data: "list", layout: "object" } });
  return figure.layout.meta.description;
}
