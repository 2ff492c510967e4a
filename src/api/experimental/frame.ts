/** The rest of danfojs: encoders, scalers, dates. Experimental: may change in any release. */

export {
  dateRange,
  Dt,
  getDummies,
  LabelEncoder,
  MinMaxScaler,
  NDframe,
  OneHotEncoder,
  StandardScaler,
  Str,
  toDateTime,
  Utils,
} from "../../interop/frame/danfo.js";
export {
  readJSON,
  type ReadJsonOptions,
  toJSON,
  type WriteJsonOptions,
} from "../../interop/frame/files.js";
