export { calculate } from "./calculator/arithmetic.js";
export { calculator } from "./calculator/calculator.js";
export { Fraction } from "./calculator/fraction.js";
export { Gate } from "./gate.js";
export { ToolMetrics } from "./tool-metrics.js";
export { ToolSet, type ToolFailure, type ToolLimits, type ToolOutcome } from "./tool-set.js";
export type { Tool, ToolCall, ToolResult } from "./tool.js";
export { HttpError } from "../http/index.js";
export {
  brightData,
  brightDataHits,
  brightDataRequest,
  cacheKey,
  isChinese,
  type BrightDataOptions,
  type BrightDataRequest,
} from "./search/bright-data.js";
export { formatHits, type FormatOptions } from "./search/format.js";
export type { SearchCall, SearchHit, SearchProvider } from "./search/provider.js";
export { PythonPool, type PythonLimits, type PythonRun } from "./python/python-pool.js";
export { pythonTool, type PythonTool, type PythonToolOptions } from "./python/python-tool.js";
export { pyodidePool } from "./python/pyodide-python.js";
export {
  detectIsolation,
  systemPython,
  sandboxUnavailableReason,
  type Isolation,
  type SystemPython,
  type SystemPythonOptions,
} from "./python/system-python.js";
export { AppendStore } from "./search/append-store.js";
export {
  exportEvaluationCache,
  exportJsonCache,
  importEvaluationCache,
  importJsonCache,
} from "./search/cache-files.js";
export { jsonEndpoint, type JsonEndpointOptions } from "./search/json-endpoint.js";
export { offlineSearch, type CorpusPage } from "./search/offline.js";
export {
  SearchCache,
  evaluationKey,
  type CachedSearch,
  type SearchCacheOptions,
} from "./search/search-cache.js";
export { searchTool, type SearchToolOptions } from "./search/search-tool.js";
export { searxng, type SearxngOptions } from "./search/searxng.js";
export { fileTool, type FileToolOptions } from "./file-tool.js";
export { loadTools, type ToolsConfig } from "./load-tools.js";
export { mcpTools, type McpOptions, type McpServer, type McpTools } from "./mcp/mcp-tools.js";
export { bestPassage, type PassageOptions } from "./pages/best-passage.js";
export { deepSearchTool, type DeepSearchOptions, type Passage } from "./pages/deep-search.js";
export { PageFetcher, type PageOptions } from "./pages/fetch-page.js";
export { remoteSummarizer, type SummarizerOptions } from "./pages/remote-summarizer.js";
export { htmlText } from "./pages/html-text.js";
export { paced } from "./search/paced.js";
export { steady } from "./search/steady.js";
