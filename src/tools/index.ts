export { evaluate } from "./arithmetic.js";
export { calculator } from "./calculator.js";
export { Fraction } from "./fraction.js";
export { Gate } from "./gate.js";
export { ToolMetrics } from "./tool-metrics.js";
export { ToolSet, type ToolFailure, type ToolLimits, type ToolOutcome } from "./tool-set.js";
export type { Tool, ToolCall, ToolResult } from "./tool.js";
export { HttpError } from "./http.js";
export {
  brightData,
  brightDataHits,
  brightDataRequest,
  cacheKey,
  isChinese,
  type BrightDataOptions,
  type BrightDataRequest,
} from "./search/bright-data.js";
export { formatHits, nothingFound, type FormatOptions } from "./search/format.js";
export type { SearchCall, SearchHit, SearchProvider } from "./search/provider.js";
