import {
  checkOptions,
  milliseconds,
  oneOf,
  optionsOf,
  type OptionRules,
} from "../../../common/options/check-options.js";
import { requestJson } from "../../base/http/request-json.js";
import type { SearchHit, SearchProvider } from "./provider.js";

export interface JsonEndpointOptions {
  /** `{query}` and `{limit}` are replaced, encoded. */
  url: string;
  /** The HTTP method. Default: `POST` with a body, else `GET`. */
  method?: "GET" | "POST";
  /** Further HTTP headers. Default: none. */
  headers?: Record<string, string>;
  /** Sent as JSON; the strings "{query}" and "{limit}" in it are replaced. Default: none. */
  body?: unknown;
  /** Where the list of pages is, as in `data.items`. Default: the answer itself. */
  list?: string;
  /** The fields of a page. Defaults: `description`, `title`, `url`. */
  fields?: { description?: string; title?: string; url?: string };
  /** Milliseconds a request may take. Default: 60,000. */
  timeoutMs?: number;
}

const rules: OptionRules<JsonEndpointOptions> = {
  url: "text",
  method: oneOf(["GET", "POST"]),
  headers: "object?",
  body: {
    must: "a value that JSON has",
    holds: (value) => !["bigint", "function", "symbol"].includes(typeof value),
  },
  list: "text?",
  fields: optionsOf<NonNullable<JsonEndpointOptions["fields"]>>({
    description: "text?",
    title: "text?",
    url: "text?",
  }),
  timeoutMs: milliseconds,
};

/** The value at a dotted path. */
function at(value: unknown, path: string | undefined): unknown {
  if (path === undefined || path === "") return value;
  return path.split(".").reduce<unknown>((inner, name) => {
    return typeof inner === "object" && inner !== null && Object.hasOwn(inner, name)
      ? (inner as Record<string, unknown>)[name]
      : undefined;
  }, value);
}

function fill(value: unknown, query: string, limit: number): unknown {
  if (value === "{limit}") return limit;
  if (typeof value === "string") return value.replaceAll("{query}", () => query);
  if (Array.isArray(value)) return value.map((inner) => fill(inner, query, limit));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([k, v]) => [k, fill(v, query, limit)]));
}

/**
 * Any endpoint that takes a query and answers with JSON.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { jsonEndpoint } from "arpo-lab/tools";
 *
 * const provider = jsonEndpoint({
 *   url: "http://localhost:8000/retrieve",
 *   method: "POST",
 *   body: { queries: ["{query}"], topk: "{limit}" },
 *   list: "result.0",
 *   fields: { description: "document.contents" },
 * });
 * assert.equal(provider.name, "json-endpoint");
 * ```
 */
export function jsonEndpoint(options: JsonEndpointOptions): SearchProvider {
  checkOptions("search with the JSON endpoint", options, rules);
  const { fields = {}, list, headers, timeoutMs } = options;
  return {
    name: "json-endpoint",
    search: async (query, { signal, limit = 10 } = {}) => {
      const doing = "search with the JSON endpoint";
      const url = options.url
        .replaceAll("{query}", () => encodeURIComponent(query))
        .replaceAll("{limit}", String(limit));
      const body = options.body === undefined ? undefined : fill(options.body, query, limit);
      const method = options.method ?? (body === undefined ? "GET" : "POST");
      const answer = await requestJson(doing, { method, url, headers, body, timeoutMs, signal });
      const pages = at(answer, list);
      if (!Array.isArray(pages)) {
        throw new TypeError(
          `Cannot ${doing}: the answer must hold a list at ${JSON.stringify(list ?? "")}, got ${typeof pages}`,
        );
      }
      const text = (page: unknown, path: string) => {
        const value = at(page, path);
        return typeof value === "string" ? value : undefined;
      };
      return pages.map((page): SearchHit => ({
        description: text(page, fields.description ?? "description") ?? "",
        title: text(page, fields.title ?? "title"),
        url: text(page, fields.url ?? "url"),
      }));
    },
  };
}
