import {
  checkOptions,
  either,
  only,
  type OptionRules,
} from "../../../common/options/check-options.js";
import type { Tool } from "../tool.js";
import { cacheKey } from "./bright-data.js";
import {
  formatHits,
  type FormatOptions,
  formatRules,
  type SearchHit,
  type SearchProvider,
} from "./provider.js";
import { SearchCache } from "./search-cache.js";
import { HttpError } from "../../base/http/request-json.js";

export interface SearchToolOptions extends FormatOptions {
  /** Where is searched. */
  provider: SearchProvider;
  /** Default: in memory only. `false` searches every time. */
  cache?: SearchCache | false;
  /** Search anew and replace what the cache holds. Default: false. */
  refresh?: boolean;
  /** The tag the model calls it by. Default: `search`. */
  tag?: string;
}

const rules: OptionRules<SearchToolOptions> = {
  ...formatRules,
  provider: "object",
  cache: either("object", only(false)),
  refresh: "boolean?",
  tag: "text?",
};

/**
 * Searches: the cache first, then the provider. The same query asked twice at once is searched once.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { searchTool, ToolSet } from "arpo-lab/tools";
 *
 * const provider = {
 *   name: "one page",
 *   search: async () => [{ description: "Oslo is the capital of Norway." }],
 * };
 * await using tools = new ToolSet([searchTool({ provider })]);
 * const { text } = await tools.call("search", "capital of Norway");
 * assert.equal(text, "Page 1: Oslo is the capital of Norway.");
 * ```
 */
export function searchTool(options: SearchToolOptions): Tool {
  checkOptions("make a search tool", options, rules);
  const { provider, maxResults = 10, resultLength = 1000, refresh = false } = options;
  const cache = options.cache === false ? undefined : (options.cache ?? new SearchCache());
  const format = { maxResults, resultLength };
  const running = new Map<string, Promise<SearchHit[]>>();

  // Nobody's signal ends a search that others wait for; it has a time limit of its own.
  const search = (key: string): Promise<SearchHit[]> => {
    let hits = running.get(key);
    if (!hits) {
      hits = provider
        .search(key, { limit: maxResults })
        .then((found) => {
          cache?.set(key, { hits: found, at: Date.now() });
          return found;
        })
        .finally(() => running.delete(key));
      running.set(key, hits);
    }
    return hits;
  };

  return {
    name: provider.name === "bright-data" ? "bing_search" : "search",
    tag: options.tag ?? "search",
    description: "Searches for pages about a query and returns a passage of each.",
    execute: async (query) => {
      const key = cacheKey(query);
      const known = refresh ? undefined : cache?.text(key, format);
      if (known !== undefined) return { text: known, ok: true, details: { cached: true } };
      try {
        const hits = await search(key);
        return { text: formatHits(hits, format), ok: true, details: { cached: false, hits } };
      } catch (error) {
        const retry = !(error instanceof HttpError) || error.retry;
        return {
          text: "",
          ok: false,
          retry,
          error: error instanceof Error ? error.message : String(error),
        };
      }
    },
    dispose: async () => {
      cache?.close();
      await provider.dispose?.();
    },
  };
}
