export * from "./danfo.js";
export {
  readCSV,
  type ReadCsvOptions,
  readJSON,
  type ReadJsonOptions,
  toCSV,
  toJSON,
  type WriteCsvOptions,
  type WriteJsonOptions,
} from "./files.js";
export { toFrame } from "./to-frame.js";
export { type FrameRow, type RowsOptions, toRows } from "./to-rows.js";
