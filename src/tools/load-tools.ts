import { addressOf } from "#platform/addresses";
import { existsSync } from "#platform/files";
import { isAbsolute, resolve } from "#platform/path";
import { z } from "#zod";
import { nearest } from "../../common/options/nearest.js";
import { checkArguments } from "../../common/options/check-arguments.js";
import { checkOptions } from "../../common/options/check-options.js";
import { homePath } from "../base/files/home-path.js";
import { importModule } from "../base/modules/import-module.js";
import { calculator } from "./calculator/calculator.js";
import { fileTool } from "./file-tool.js";
import { type McpServer, mcpTools } from "./mcp/mcp-tools.js";
import { deepSearchTool } from "./pages/deep-search.js";
import { PageFetcher } from "./pages/fetch-page.js";
import { pythonTool } from "./python/python-tool.js";
import { brightData } from "./search/bright-data.js";
import { jsonEndpoint, type JsonEndpointOptions } from "./search/json-endpoint.js";
import { offlineSearch } from "./search/offline.js";
import type { SearchProvider } from "./search/provider.js";
import { SearchCache } from "./search/search-cache.js";
import { searchTool } from "./search/search-tool.js";
import { searxng, type SearxngOptions } from "./search/searxng.js";
import { ToolSet } from "./tool-set.js";
import type { Tool } from "./tool.js";

/** What a configuration gives a tool. */
type ToolParams = Record<string, unknown>;
type Params = ToolParams;

/** A tool that configurations know by name: the parameters it reads, and how it is made of them. */
interface KnownTool {
  params: readonly string[];
  make(params: Params, tag: string): Tool | Tool[] | Promise<Tool | Tool[]>;
}

const text = (value: unknown) => (typeof value === "string" ? homePath(value) : undefined);
const number = (value: unknown) => (typeof value === "number" ? value : undefined);

async function search(
  provider: Parameters<typeof searchTool>[0]["provider"],
  params: Params,
  tag: string,
): Promise<Tool> {
  const file = text(params.cache_file);
  // A reference cache is taken in once; what is new goes into a file beside it that only grows.
  const cache = new SearchCache({ path: file && file.replace(/\.json$/, "") + ".jsonl" });
  if (file?.endsWith(".json") && existsSync(file) && cache.size === 0) {
    const { importJsonCache } = await import("./search/cache-files.js");
    importJsonCache(cache, file);
  }
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
async function deepSearch(params: Params, tag: string): Promise<Tool> {
  const parsed = deepParams.safeParse(params);
  if (!parsed.success) throw new TypeError(z.prettifyError(parsed.error));
  const { provider, provider_params = {}, cache_file, page_cache, max_pages = 10 } = parsed.data;
  const { per_second = 32, retry_wait = 5, allow_private, summarizer } = parsed.data;
  const { paced, steady } = await import("./search/steady.js");
  const { remoteSummarizer } = await import("./pages/remote-summarizer.js");
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
const knownTools: Readonly<Record<string, KnownTool>> = {
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

/** The `tools` part of a rollout's configuration, with the reference's key names. */
const toolsConfig = z.strictObject({
  call_limit: z.number().int().min(0).optional(),
  max_workers: z.number().int().min(1).optional(),
  /** Seconds. */
  timeout: z.number().positive().optional(),
  retry_count: z.number().int().min(1).optional(),
  verbose_logging: z.boolean().optional(),
  /** How the model writes calls: the rollout's business. */
  calls: z.string().optional(),
  /** Whether the prompt tells of them: the rollout's business too. */
  describe: z.boolean().nullish(),
  /** Whether calls are held to the schemas of their tools: the rollout's business too. */
  strict_calls: z.boolean().nullish(),
  /** Throw when a tool does not load; otherwise it is left out and `onError` is told. */
  fail_on_error: z.boolean().optional(),
  tool_instances: z
    .record(
      z.string(),
      z.strictObject({
        class_path: z.string(),
        params: z.record(z.string(), z.unknown()).nullish(),
      }),
    )
    .optional(),
});

/** What may be written as a `tools` configuration. */
export type ToolsConfig = z.input<typeof toolsConfig>;

/** A module's tool: `./my-tool.js`, or `./my-tool.js#name` for one of several exports. */
async function fromModule(
  path: string,
  folder: string,
  params: ToolParams,
  tag: string,
): Promise<Tool> {
  const [file = "", name = "default"] = path.split("#");
  const local = /^[.~]/.test(file) || isAbsolute(file);
  const url = local ? addressOf(resolve(folder, homePath(file))) : file;
  const module = await importModule(url);
  const made = module[name];
  if (made === undefined) {
    throw new TypeError(
      `Cannot load tool ${tag}: ${file} must export ${name}, got ${Object.keys(module).join(", ") || "nothing"}`,
    );
  }
  const tool: unknown = typeof made === "function" ? await make(made, params) : made;
  if (
    typeof tool !== "object" ||
    tool === null ||
    typeof (tool as Partial<Tool>).execute !== "function"
  ) {
    throw new TypeError(
      `Cannot load tool ${tag}: ${path} must give an object with execute, got ${typeof tool}`,
    );
  }
  const own = tool as Partial<Tool> & Pick<Tool, "execute">;
  return {
    name: own.name ?? tag,
    tag,
    description: own.description ?? "",
    emptyIsAnswer: own.emptyIsAnswer,
    execute: own.execute.bind(own),
    dispose: () => own.dispose?.(),
  };
}

// A class has to be constructed, a function called; what tells them apart is how they are written.
const make = (made: CallableFunction, params: ToolParams): unknown =>
  /^class\b/.test(Function.prototype.toString.call(made))
    ? (Reflect.construct(made, [params]) as unknown)
    : (made as (params: ToolParams) => unknown)(params);

/** A tool that the lab knows; a parameter that it would not read is refused. */
function fromName(path: string, params: ToolParams, tag: string) {
  const { make, params: known } = knownTools[path]!;
  const strange = Object.keys(params).find((name) => !known.includes(name));
  if (strange === undefined) return make(params, tag);
  const near = nearest(strange, known);
  const all = known.length === 0 ? "it has none" : `it has ${known.join(", ")}`;
  throw new RangeError(
    `Cannot load tool ${tag}: every parameter of ${path} must be known, got ${strange} (${near === undefined ? all : `did you mean ${near}?`})`,
  );
}

/**
 * The tools of a configuration. An instance's name is its tag; `class_path` is a name of ours
 * (`python`, `search.offline`, `search.bright-data`, `search.searxng`, `search.json`, `search.deep`,
 * `calculator`, `file`, `mcp`), one of the reference's class paths, or a module.
 *
 * @param config the configuration's `tools` section
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { loadTools } from "arpo-lab/tools";
 *
 * const tools = await loadTools({
 *   call_limit: 5,
 *   timeout: 10,
 *   tool_instances: { calc: { class_path: "calculator" } },
 * });
 * assert.deepEqual([tools.tags, tools.callLimit, tools.timeoutMs], [["calc"], 5, 10_000]);
 * ```
 */
export async function loadTools(
  config: ToolsConfig,
  options: {
    /** Where paths of tool modules begin. Default: the working directory. */
    folder?: string;
    /** Told of each tool that did not load, with `fail_on_error: false`. Default: none. */
    onError?: (error: Error) => void;
  } = {},
): Promise<ToolSet> {
  checkArguments("load tools", { config }, { config: "object" });
  checkOptions("load tools", options, { folder: "path?", onError: "function?" });
  const parsed = toolsConfig.safeParse(config);
  if (!parsed.success) {
    throw new TypeError(`Cannot load tools: ${z.prettifyError(parsed.error)}`);
  }
  const { tool_instances = {}, fail_on_error = true } = parsed.data;
  const set = new ToolSet([], {
    callLimit: parsed.data.call_limit,
    maxWorkers: parsed.data.max_workers,
    timeoutMs: parsed.data.timeout && parsed.data.timeout * 1000,
    retryCount: parsed.data.retry_count,
  });
  for (const [tag, { class_path: path, params }] of Object.entries(tool_instances)) {
    try {
      const made = Object.hasOwn(knownTools, path)
        ? await fromName(path, params ?? {}, tag)
        : await fromModule(path, options.folder ?? resolve(), params ?? {}, tag);
      for (const tool of [made].flat()) set.add(tool);
    } catch (cause) {
      const why = cause instanceof Error ? cause.message : String(cause);
      const error = new Error(
        why.startsWith("Cannot load") ? why : `Cannot load tool ${tag}: ${why}`,
        { cause },
      );
      if (fail_on_error) {
        await set.dispose();
        throw error;
      }
      options.onError?.(error);
    }
  }
  return set;
}
