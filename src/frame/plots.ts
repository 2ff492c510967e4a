import {
  type DataFrame,
  type Figure,
  type IPlotlyLib,
  type PlotConfigObject,
  plots,
  type Series,
} from "#danfojs";

type Draw = (frame: DataFrame | Series, div: string, config: never, plotly: unknown) => void;

/** The chart that a function of danfojs's would have drawn into a page. */
function figureOf(
  draw: Draw,
  frame: DataFrame | Series,
  { config = {}, layout = {} }: PlotConfigObject,
): Figure {
  const figure: Figure = { data: [], layout: {} };
  const plotly = {
    newPlot: (_div: string, data: Figure["data"], made: Figure["layout"]) => {
      figure.data.push(...data);
      figure.layout = made;
    },
  };
  draw(frame, "", { config, layout } as never, plotly);
  return figure;
}

/** What `frame.plot()` gives: charts as values, which a cell shows and `toSvg`, `toPng` and `toHtml` take. */
export function plotsOf(frame: DataFrame | Series): IPlotlyLib {
  const kind =
    (draw: Draw) =>
    (options: PlotConfigObject = {}) =>
      figureOf(draw, frame, options);
  return {
    line: kind(plots.linePlot),
    bar: kind(plots.barPlot),
    scatter: kind(plots.scatterPlot),
    hist: kind(plots.histPlot),
    pie: kind(plots.piePlot),
    box: kind(plots.boxPlot),
    violin: kind(plots.violinPlot),
    table() {
      throw new Error(
        "Cannot plot a table: a frame is one already, and shows itself as a cell's value",
      );
    },
  };
}
