import {
  checkOptions,
  milliseconds,
  type OptionRules,
  texts,
} from "../../../common/options/check-options.js";
import { z } from "#zod";
import { requestJson } from "../../base/http/request-json.js";
import type { SearchProvider } from "./provider.js";

const answer = z.looseObject({
  results: z.array(
    z.looseObject({
      content: z.string().nullish(),
      title: z.string().nullish(),
      url: z.string().nullish(),
    }),
  ),
});

export interface SearxngOptions {
  /** Where the instance lives; its JSON format must be enabled. */
  url: string;
  /** Code of the language, as `en`. Default: the instance's. */
  language?: string;
  /** Which engines are asked. Default: the instance's. */
  engines?: string[];
  /** Milliseconds a request may take. Default: 60,000. */
  timeoutMs?: number;
}

const rules: OptionRules<SearxngOptions> = {
  url: "text",
  language: "text?",
  engines: texts,
  timeoutMs: milliseconds,
};

/**
 * A SearXNG instance: a search engine one can run oneself.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { searxng } from "arpo-lab/tools";
 *
 * assert.equal(searxng({ url: "http://localhost:8888" }).name, "searxng");
 * ```
 */
export function searxng(options: SearxngOptions): SearchProvider {
  checkOptions("search with SearXNG", options, rules);
  const { url, language, engines, timeoutMs } = options;
  return {
    name: "searxng",
    search: async (query, { signal } = {}) => {
      const params: Record<string, string> = { q: query, format: "json" };
      if (language !== undefined) params.language = language;
      if (engines !== undefined) params.engines = engines.join(",");
      const address = new URL("search", url.endsWith("/") ? url : `${url}/`).href;
      const response = await requestJson("search with SearXNG", {
        url: address,
        params,
        timeoutMs,
        signal,
      });
      return answer.parse(response).results.map(({ content, title, url: link }) => ({
        description: content ?? "",
        title: title ?? undefined,
        url: link ?? undefined,
      }));
    },
  };
}
