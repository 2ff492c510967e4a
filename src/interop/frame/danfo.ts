import {
  concat as concatInto,
  DataFrame,
  type Figure,
  type IPlotlyLib,
  type PlotConfigObject,
  plots,
  Series,
} from "#danfojs";
import { tf } from "../../tensor/tf.js";
import { toCSV, toJSON, type WriteCsvOptions, type WriteJsonOptions } from "./files.js";

export {
  DataFrame,
  dateRange,
  Dt,
  getDummies,
  LabelEncoder,
  merge,
  MinMaxScaler,
  NDframe,
  OneHotEncoder,
  Series,
  StandardScaler,
  Str,
  toDateTime,
  Utils,
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
function plotsOf(frame: DataFrame | Series): IPlotlyLib {
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

// danfojs on this package's tensors, charts and files. Its methods are put in place here, on its own two classes,
// because what they return is always one of these.

/** Methods that compute with tensors and return values: they leave their tensors behind. */
const arithmetic = ["add", "sub", "mul", "div", "divNoNan", "pow", "mod", "pctChange", "diff"];
const comparisons = ["eq", "ne", "gt", "lt", "ge", "le"];
const positions = ["argMax", "argMin"];

type Method = (this: unknown, ...args: unknown[]) => unknown;

function freeing(method: Method): Method {
  return function (...args) {
    tf.engine().startScope();
    try {
      return method.apply(this, args);
    } finally {
      tf.engine().endScope();
    }
  };
}

function equip(prototype: DataFrame | Series): void {
  const methods = prototype as unknown as Record<string, Method | undefined>;
  for (const name of [...arithmetic, ...comparisons, ...positions]) {
    if (methods[name]) methods[name] = freeing(methods[name]);
  }
  Object.assign(prototype, {
    plot(this: DataFrame | Series) {
      return plotsOf(this);
    },
    toCSV(this: DataFrame | Series, options?: WriteCsvOptions) {
      return toCSV(this, options);
    },
    toJSON(this: DataFrame | Series, options?: WriteJsonOptions) {
      return toJSON(this, options);
    },
  });
}
equip(DataFrame.prototype as DataFrame);
equip(Series.prototype);

/**
 * Frames below one another (`axis: 0`) or side by side (`axis: 1`). danfojs's own adds the others' rows to the
 * first frame itself.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { concat, DataFrame } from "arpo-lab/view";
 *
 * const frame = new DataFrame({ a: [1], b: [2] });
 * assert.deepEqual(concat({ dfList: [frame, frame], axis: 0 }).shape, [2, 2]);
 * assert.deepEqual(frame.shape, [1, 2]);
 * ```
 */
export const concat: typeof concatInto = ({ dfList, axis }) =>
  concatInto({ dfList: dfList.map((frame) => frame.copy()), axis });
