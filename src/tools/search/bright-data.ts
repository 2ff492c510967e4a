import { environment } from "#platform/process";
import { checkArguments } from "../../../common/options/check-arguments.js";
import {
  checkOptions,
  milliseconds,
  type OptionRules,
} from "../../../common/options/check-options.js";
import { z } from "#zod";
import { requestJson } from "../../base/http/request-json.js";
import type { SearchHit, SearchProvider } from "./provider.js";

/** How Bright Data's search endpoint is asked; names and defaults of the reference. */
export interface BrightDataOptions {
  /** Default: the environment variable BRIGHT_DATA_API_KEY, read when the first search is made. */
  apiKey?: string;
  /** The account's zone. Default: `serp_api1`. */
  zone?: string;
  /** Country code of the search. Default: `cn`, as the reference. */
  location?: string;
  /** Milliseconds a request may take. Default: 60,000. */
  timeoutMs?: number;
  /**
   * The endpoint; another one for tests and proxies. Default: `https://api.brightdata.com/request`.
   */
  url?: string;
}

const rules: OptionRules<BrightDataOptions> = {
  apiKey: "text?",
  zone: "text?",
  location: "text?",
  timeoutMs: milliseconds,
  url: "text?",
};

/** One HTTP request, as plain data. */
export interface BrightDataRequest {
  method: "POST";
  url: string;
  headers: Record<string, string>;
  body: { zone: string; url: string; format: "raw" };
}

const defaults = {
  zone: "serp_api1",
  location: "cn",
  url: "https://api.brightdata.com/request",
  timeoutMs: 60_000,
};

/** The query that is sent and that keys the cache: without double quotes, otherwise as it is. */
export function cacheKey(query: string): string {
  return query.replaceAll('"', "");
}

/**
 * Guesses whether a query is Chinese: an ideograph somewhere and no kana. The reference asks a
 * statistical language detector, which may decide otherwise for mixed or very short queries.
 */
export function isChinese(text: string): boolean {
  return /\p{Script=Han}/u.test(text) && !/[\p{Script=Hiragana}\p{Script=Katakana}]/u.test(text);
}

/** Form encoding as Python's: only letters, digits and `_.-~` stay, a space becomes `+`. */
function formEncode(text: string): string {
  return encodeURIComponent(new TextDecoder().decode(new TextEncoder().encode(text))) // a lone surrogate becomes U+FFFD
    .replace(/[!'()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`)
    .replaceAll("%20", "+");
}

/**
 * The request that searches for a query.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { brightDataRequest } from "arpo-lab/experimental/tools";
 *
 * const { body } = brightDataRequest('"fjord" length', { apiKey: "KEY" });
 * assert.equal(
 *   body.url,
 *   "https://www.bing.com/search?q=fjord+length&mkt=en-US&setLang=en&brd_json=1&cc=cn",
 * );
 * ```
 */
export function brightDataRequest(
  query: string,
  options: BrightDataOptions & { chinese?: boolean } = {},
): BrightDataRequest {
  checkArguments("search with Bright Data", { query }, { query: "text" });
  checkOptions("search with Bright Data", options, { ...rules, chinese: "boolean?" });
  const key = cacheKey(query);
  const { zone = defaults.zone, location = defaults.location, url = defaults.url } = options;
  const apiKey = options.apiKey ?? environment.BRIGHT_DATA_API_KEY;
  if (!apiKey) {
    throw new TypeError(
      "Cannot search with Bright Data: an API key is needed, got none (set BRIGHT_DATA_API_KEY)",
    );
  }
  const [mkt, language] = (options.chinese ?? isChinese(key)) ? ["zh-CN", "zh"] : ["en-US", "en"];
  const search = `q=${formEncode(key)}&mkt=${mkt}&setLang=${language}&brd_json=1&cc=${location}`;
  return {
    method: "POST",
    url,
    headers: { Authorization: `Bearer ${apiKey}`, "Content-Type": "application/json" },
    body: { zone, url: `https://www.bing.com/search?${search}`, format: "raw" },
  };
}

const answer = z.looseObject({ organic: z.array(z.unknown()).optional() });
const page = z.looseObject({
  description: z.string(),
  title: z.string().optional().catch(undefined),
  link: z.string().optional().catch(undefined),
});

/** The pages of a response; entries without a description are left out. */
export function brightDataHits(response: unknown): SearchHit[] {
  const parsed = answer.safeParse(response);
  if (!parsed.success) {
    throw new TypeError(`Cannot read an answer: ${z.prettifyError(parsed.error)}`);
  }
  const { organic = [] } = parsed.data;
  return organic.flatMap((entry) => {
    const { success, data } = page.safeParse(entry);
    return success ? [{ description: data.description, title: data.title, url: data.link }] : [];
  });
}

/**
 * Bing through Bright Data's proxy: what the reference trains and evaluates with.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { brightData } from "arpo-lab/tools";
 *
 * const provider = brightData({ zone: "my_zone" });
 * assert.equal(provider.name, "bright-data");
 * ```
 */
export function brightData(options: BrightDataOptions = {}): SearchProvider {
  checkOptions("search with Bright Data", options, rules);
  return {
    name: "bright-data",
    search: async (query, { signal } = {}) => {
      const { method, url, headers, body } = brightDataRequest(query, options);
      const timeoutMs = options.timeoutMs ?? defaults.timeoutMs;
      return brightDataHits(
        await requestJson("search with Bright Data", {
          method,
          url,
          headers,
          body,
          timeoutMs,
          signal,
        }),
      );
    },
  };
}
