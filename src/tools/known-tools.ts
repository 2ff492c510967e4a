import { existsSync } from "#platform/files";
import { z } from "#zod";
import { homePath } from "../files/home-path.js";
import { calculator } from "./calculator/calculator.js";
import { fileTool } from "./file-tool.js";
import { mcpTools, type McpServer } from "./mcp/mcp-tools.js";
import { pythonTool } from "./python/python-tool.js";
import { deepSearchTool } from "./pages/deep-search.js";
import { PageFetcher } from "./pages/fetch-page.js";
import { remoteSummarizer } from "./pages/remote-summarizer.js";
import { brightData } from "./search/bright-data.js";
import { importJsonCache } from "./search/cache-files.js";
import { jsonEndpoint, type JsonEndpointOptions } from "./search/json-endpoint.js";
import { offlineSearch } from "./search/offline.js";
import { paced } from "./search/paced.js";
import type { SearchProvider } from "./search/provider.js";
import { SearchCache } from "./search/search-cache.js";
import { searchTool } from "./search/search-tool.js";
import { steady } from "./search/steady.js";
import { searxng, type SearxngOptions } from "./search/searxng.js";
import type { Tool } from "./tool.js";

/** What a configuration gives a tool. */
export type ToolParams = Record<string, unknown>;
type Params = ToolParams;

/** A tool that configurations know by name: the parameters it reads, and how it is made of them. */
interface KnownTool {
  params: readonly string[];
  make(params: Params, tag: string): Tool | Tool[] | Promise<Tool | Tool[]>;
}

const text = (value: unknown) => (typeof value === "string" ? homePath(value) : undefined);
const number = (value: unknown) => (typeof value === "number" ? value : undefined);

function search(
  provider: Parameters<typeof searchTool>[0]["provider"],
  params: Params,
  tag: string,
): Tool {
  const file = text(params.cache_file);
  // A reference cache is taken in once; what is new goes into a file beside it that only grows.
  const cache = new SearchCache({ path: file && file.replace(/\.json$/, "") + ".jsonl" });
  if (file?.endsWith(".json") && existsSync(file) && cache.size === 0) importJsonCache(cache, file);
  return searchTool({
    provider,
    cache,
    tag,
    maxResults: number(params.max_results),
    resultLength: number(params.result_length),
  });
}

/** Where searches go, by name. */
const providers: Record<string, (params: Params) => SearchProvider> = {
  offline: (p) => offlineSearch({ path: text(p.corpus) }),
  "bright-data": (p) =>
    brightData({ apiKey: text(p.api_key), zone: text(p.zone), location: text(p.location) }),
  searxng: (p) => searxng(p as unknown as SearxngOptions),
  json: (p) => jsonEndpoint(p as unknown as JsonEndpointOptions),
};

const deepParams = z.strictObject({
  provider: z.enum(["offline", "bright-data", "searxng", "json"]),
  provider_params: z.record(z.string(), z.unknown()).optional(),
  cache_file: z.string().optional(),
  page_cache: z.string().optional(),
  max_pages: z.number().int().min(1).optional(),
  per_second: z.number().positive().optional(),
  retry_wait: z.number().min(0).optional(),
  allow_private: z.boolean().optional(),
  summarizer: z
    .strictObject({
      urls: z.array(z.string()).min(1),
      model: z.string(),
      api_key_env: z.string().optional(),
    })
    .optional(),
});

/** The reference's deep search: paced and repeated searches, pages, passages, a summariser. */
function deepSearch(params: Params, tag: string): Tool {
  const parsed = deepParams.safeParse(params);
  if (!parsed.success) throw new TypeError(z.prettifyError(parsed.error));
  const { provider, provider_params = {}, cache_file, page_cache, max_pages = 10 } = parsed.data;
  const { per_second = 32, retry_wait = 5, allow_private, summarizer } = parsed.data;
  return deepSearchTool({
    tag,
    provider: steady(paced(providers[provider]!(provider_params), per_second), {
      cache: new SearchCache({ path: cache_file }),
      waitMs: retry_wait * 1000,
    }),
    pages: new PageFetcher({ cachePath: page_cache, allowPrivate: allow_private }),
    maxPages: max_pages,
    summarize:
      summarizer &&
      remoteSummarizer({
        urls: summarizer.urls,
        model: summarizer.model,
        apiKeyEnv: summarizer.api_key_env,
      }),
  });
}

const searchParams = ["cache_file", "async_cache_write", "max_results", "result_length"];
const brightDataParams = ["api_key", "zone", "location", ...searchParams];
const pythonParams = [
  ...["python", "conda_path", "conda_env"],
  ...["timeout", "memory_mb", "workers", "retry_empty"],
];

const python: KnownTool = {
  params: pythonParams,
  make: (p, tag) =>
    pythonTool({
      tag,
      python: text(p.python),
      condaPath: text(p.conda_path),
      condaEnv: text(p.conda_env),
      timeoutMs: number(p.timeout) && number(p.timeout)! * 1000,
      memoryMb: number(p.memory_mb),
      workers: number(p.workers),
      retryEmpty: p.retry_empty === true,
    }),
};

const searchBy = (provider: keyof typeof providers, params: readonly string[]): KnownTool => ({
  params: [...params, ...searchParams],
  make: (p, tag) => search(providers[provider]!(p), p, tag),
});
const brightDataSearch = searchBy("bright-data", brightDataParams);

/** Tools by the names that configurations use, the reference's class paths among them. */
export const knownTools: Readonly<Record<string, KnownTool>> = {
  python,
  "verl.workers.rollout.tools.python_tool.PythonTool": python,
  calculator: { params: [], make: (_, tag) => calculator({ tag }) },
  file: {
    params: ["folder", "max_length"],
    make: (p, tag) => fileTool({ folder: String(p.folder), tag, maxLength: number(p.max_length) }),
  },
  "search.offline": searchBy("offline", ["corpus"]),
  "search.bright-data": brightDataSearch,
  "verl.workers.rollout.tools.search_tool.BingSearchTool": brightDataSearch,
  "search.searxng": searchBy("searxng", ["url", "language", "engines", "timeoutMs"]),
  "search.json": searchBy("json", [
    ...["url", "method", "headers", "body", "list", "fields", "timeoutMs"],
  ]),
  "search.deep": { params: Object.keys(deepParams.shape), make: deepSearch },
  mcp: {
    params: ["command", "args", "env", "cwd", "url", "headers"],
    make: async (p, tag) =>
      (await mcpTools(p as unknown as McpServer, { prefix: `${tag}_` })).tools,
  },
};
