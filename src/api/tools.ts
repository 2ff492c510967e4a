/** Tools that a policy calls, and environments that it acts in. */

// Tools together
export { ToolSet, type ToolLimits, type ToolOutcome, type Tools } from "../tools/tool-set.js";
export type { Tool, ToolCall, ToolResult } from "../tools/tool.js";
export { taskTools } from "../tasks/task-tools.js";
export { loadTools, type ToolsConfig } from "../tools/load-tools.js";

// Calculator, Python, files, MCP
export { calculator } from "../tools/calculator/calculator.js";
export {
  pythonTool,
  type PythonTool,
  type PythonToolOptions,
} from "../tools/python/python-tool.js";
export {
  systemPython,
  type SystemPython,
  type SystemPythonOptions,
} from "../tools/python/system-python.js";
export { fileTool, type FileToolOptions } from "../tools/file-tool.js";
export {
  mcpTools,
  type McpTools,
  type McpOptions,
  type McpServer,
} from "../tools/mcp/mcp-tools.js";

// Search
export { searchTool, type SearchToolOptions } from "../tools/search/search-tool.js";
export type { SearchProvider, SearchCall, SearchHit } from "../tools/search/provider.js";
export { offlineSearch, type CorpusPage } from "../tools/search/offline.js";
export { searxng, type SearxngOptions } from "../tools/search/searxng.js";
export { brightData, type BrightDataOptions } from "../tools/search/bright-data.js";
export { jsonEndpoint, type JsonEndpointOptions } from "../tools/search/json-endpoint.js";
export { SearchCache, type SearchCacheOptions } from "../tools/search/search-cache.js";

// Search that reads the pages
export { deepSearchTool, type DeepSearchOptions } from "../tools/pages/deep-search.js";

// Environments
export type {
  Environment,
  EnvironmentStart,
  EpisodeEnd,
  EpisodeScore,
  EnvironmentSource,
} from "../environments/environment.js";
export { httpEnvironment, type HttpEnvironmentOptions } from "../environments/http-environment.js";
export { openEnv } from "../environments/open-env/open-env.js";
export type { OpenEnvOptions } from "../environments/open-env/options.js";
export { environments } from "../tasks/environments/index.js";
