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
export { PythonPool, type PythonLimits, type PythonRun } from "./python/python-pool.js";
export { pythonTool, type PythonTool, type PythonToolOptions } from "./python/python-tool.js";
export { pyodidePool } from "./python/pyodide-python.js";
export {
  systemPython,
  type Isolation,
  type SystemPython,
  type SystemPythonOptions,
} from "./python/system-python.js";
