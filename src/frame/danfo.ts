// danfojs on this package's tensors, charts and files. Its methods are put in place here, on its own two classes,
// because what they return is always one of these.
import { concat as concatInto, DataFrame, Series } from "#danfojs";
import { tf } from "../tensor/tf.js";
import { toCSV, toJSON, type WriteCsvOptions, type WriteJsonOptions } from "./files.js";
import { plotsOf } from "./plots.js";

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
