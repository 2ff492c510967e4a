import { integerOrAll, type OptionRules } from "../../../common/options/check-options.js";
import { strip } from "../../base/text/python-text.js";

/** One page found. */
export interface SearchHit {
  /** The text that is shown to the model. */
  description: string;
  title?: string;
  url?: string;
}

/** What a provider is told besides the query. */
export interface SearchCall {
  signal?: AbortSignal;
  /** How many hits are wanted; more may come, fewer too. */
  limit?: number;
}

/**
 * Somewhere to search. `search` rejects when the search could not be made; finding nothing is an
 * empty list.
 */
export interface SearchProvider {
  readonly name: string;
  /**
   * @param query what the model searches for
   * @param call its signal, and how many hits are wanted
   */
  search(query: string, call?: SearchCall): Promise<SearchHit[]>;
  dispose?(): void | Promise<void>;
}

/** What the model reads when a search was made and found nothing. */
export const nothingFound = "No search results found.";

/** How much of what was found is shown. */
export interface FormatOptions {
  /** Pages shown (`max_results`). Default 10. */
  maxResults?: number;
  /** Code points shown of each page (`result_length`). Default 1000. */
  resultLength?: number;
}

export const formatRules: OptionRules<FormatOptions> = {
  maxResults: integerOrAll(0),
  resultLength: integerOrAll(0),
};

/** The text of a search result: the distinct, trimmed descriptions in order, numbered as pages. */
export function formatHits(hits: Iterable<SearchHit>, options: FormatOptions = {}): string {
  const { maxResults = 10, resultLength = 1000 } = options;
  const texts = new Set<string>();
  for (const { description } of hits) {
    const text = strip(description);
    if (text !== "") texts.add(text);
  }
  if (texts.size === 0) return nothingFound;
  return [...texts]
    .slice(0, maxResults)
    .map((text, i) => `Page ${i + 1}: ${cut(text, resultLength)}`)
    .join("\n");
}

/** The first `length` code points. */
function cut(text: string, length: number): string {
  if (text.length <= length) return text;
  let units = 0;
  for (let points = 0; points < length && units < text.length; points++) {
    units += text.codePointAt(units)! > 0xffff ? 2 : 1;
  }
  return text.slice(0, units);
}
