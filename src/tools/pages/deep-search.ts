import { checkOptions, integer, type OptionRules } from "../../../common/options/check-options.js";
import { HttpError } from "../../base/http/request-json.js";
import { Semaphore } from "../../base/concurrency/semaphore.js";
import { cacheKey } from "../search/bright-data.js";
import { nothingFound, type SearchHit, type SearchProvider } from "../search/provider.js";
import type { Tool } from "../tool.js";
import { bestPassage, type PassageOptions, passageRules } from "./best-passage.js";
import { PageFetcher } from "./fetch-page.js";

/** What was found on one page. */
export interface Passage {
  title: string;
  url: string;
  snippet: string;
  /** Around the sentence that fits the snippet; the snippet itself when the page did not load. */
  text: string;
}

export interface DeepSearchOptions extends PassageOptions {
  /** Where is searched. */
  provider: SearchProvider;
  /** What loads the pages. Default: a new `PageFetcher`. */
  pages?: PageFetcher;
  /** Pages read per search. Default 5. */
  maxPages?: number;
  /**
   * Boils passages down to what answers the query, usually by asking a model. Of its text, what
   * follows the last marker `**Final Information**` becomes the result. Default: the passages themselves.
   */
  summarize?: (
    query: string,
    passages: Passage[],
    signal: AbortSignal,
    /** What was written and found before this search, where the caller tells it. */
    transcript: readonly string[],
  ) => Promise<string>;
  /** The tag the model calls it by. Default: `search`. */
  tag?: string;
}

const rules: OptionRules<DeepSearchOptions> = {
  ...passageRules,
  provider: "object",
  pages: "object?",
  maxPages: integer(0),
  summarize: "function?",
  tag: "text?",
};

/** What a summariser writes before what counts. */
export const finalMarker = "**Final Information**";

/**
 * Searches, reads the pages found, and gives the passage of each that fits its snippet.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { deepSearchTool, ToolSet } from "arpo-lab/tools";
 *
 * const provider = { name: "none", search: async () => [] };
 * const tools = new ToolSet([deepSearchTool({ provider })]);
 * assert.equal((await tools.call("search", "anything")).text, "No search results found.");
 * ```
 */
export function deepSearchTool(options: DeepSearchOptions): Tool {
  checkOptions("make a search tool", options, rules);
  const { provider, pages = new PageFetcher(), maxPages = 5, summarize } = options;
  const semaphore = new Semaphore(16);
  const read = async (hit: SearchHit, signal: AbortSignal): Promise<Passage> => {
    const { title = "", url = "", description: snippet } = hit;
    const page = await semaphore
      .run(() => pages.fetch(url, signal), signal)
      .catch((error: unknown) => {
        // A page that does not load leaves its snippet; anything else is not expected here.
        if (error instanceof HttpError) return undefined;
        throw error;
      });
    const text = page === undefined ? snippet : bestPassage(page, snippet, options).text;
    return { title, url, snippet, text };
  };
  return {
    name: "deep_search",
    tag: options.tag ?? "search",
    description: "Searches, reads the pages found and returns the passages that matter.",
    execute: async (query, { signal, transcript = [] }) => {
      const hits = await provider.search(cacheKey(query), { limit: maxPages, signal });
      const passages = await Promise.all(
        hits
          .slice(0, maxPages)
          .filter(({ url }) => url !== undefined && URL.canParse(url))
          .map((hit) => read(hit, signal)),
      );
      if (passages.length === 0) return nothingFound;
      if (!summarize) {
        return passages
          .map(({ title, text }, i) => `Page ${i + 1}: ${title}\n${text}`)
          .join("\n\n");
      }
      const summary = await summarize(query, passages, signal, transcript);
      const at = summary.lastIndexOf(finalMarker);
      return (at < 0 ? summary : summary.slice(at + finalMarker.length)).trim();
    },
    dispose: async () => {
      pages.close();
      await provider.dispose?.();
    },
  };
}
