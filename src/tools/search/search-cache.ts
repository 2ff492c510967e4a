import { checkArguments } from "../../../common/options/check-arguments.js";
import {
  checkOptions,
  fromTo,
  integer,
  type OptionRules,
} from "../../../common/options/check-options.js";
import { lruCache } from "#platform/packages";
import type * as Lru from "lru-cache";
import { AppendStore } from "./append-store.js";
import {
  formatHits,
  type FormatOptions,
  formatRules,
  nothingFound,
  type SearchHit,
} from "./provider.js";

/** What a cache holds for a query: the pages, or only the text that an older cache kept of them. */
export interface CachedSearch {
  hits?: SearchHit[];
  text?: string;
  /** When it was found, in milliseconds since 1970. */
  at: number;
}

export interface SearchCacheOptions {
  /** A file that several processes may share. Default: memory only. */
  path?: string;
  /** Queries kept in memory. Default 100,000. */
  memory?: number;
  /** Milliseconds after which a result counts as unknown. Default: never, as in the reference. */
  ttlMs?: number;
  /** The same for a search that found nothing. Default: a day. */
  emptyTtlMs?: number;
}

/**
 * The key of the reference's evaluation cache: lower case, trimmed, word characters only.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { evaluationKey } from "arpo-lab/experimental/tools";
 *
 * assert.equal(evaluationKey(" Where's Oslo? "), evaluationKey("wheres oslo"));
 * ```
 */
export function evaluationKey(query: string): string {
  checkArguments("name a search", { query }, { query: "text" });
  return query
    .toLowerCase()
    .trim()
    .replace(/[^\p{L}\p{N}_]/gu, "");
}

const rules: OptionRules<SearchCacheOptions> = {
  path: "path?",
  memory: integer(1),
  ttlMs: fromTo(0, Infinity),
  emptyTtlMs: fromTo(0, Infinity),
};

const evaluationPrefix = "\u0001evaluation:";

/** Whether a search found nothing. */
const isEmpty = ({ hits, text }: CachedSearch) =>
  hits ? hits.every(({ description }) => description.trim() === "") : text === nothingFound;

/**
 * Search results by query: an LRU in memory in front of a file that only grows.
 *
 * Pages are kept, not their text, so `maxResults` and `resultLength` may change later; entries
 * imported from a reference cache are text and stay as they were cut.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { SearchCache } from "arpo-lab/tools";
 *
 * const cache = new SearchCache();
 * cache.set("Oslo", { hits: [{ description: "Capital of Norway" }], at: Date.now() });
 * assert.equal(cache.text("Oslo"), "Page 1: Capital of Norway");
 * assert.equal(cache.text("oslo"), undefined);
 * ```
 */
export class SearchCache {
  readonly #memory: Lru.LRUCache<string, CachedSearch>;
  readonly #store: AppendStore<CachedSearch> | undefined;
  /** What was made of an entry last: the same settings come again and again. */
  readonly #texts = new WeakMap<CachedSearch, { text: string } & FormatOptions>();
  readonly #ttlMs: number;
  readonly #emptyTtlMs: number;

  constructor(options: SearchCacheOptions = {}) {
    checkOptions("cache searches", options, rules);
    const { LRUCache } = lruCache(); // only now: it takes a while
    this.#memory = new LRUCache({ max: options.memory ?? 100_000 });
    this.#store = options.path === undefined ? undefined : new AppendStore(options.path);
    this.#ttlMs = options.ttlMs ?? Infinity;
    this.#emptyTtlMs = options.emptyTtlMs ?? 86_400_000;
  }

  /**
   * What is known about a query, unless it is too old.
   * @param query what the model searched for, exactly or up to case and punctuation
   */
  get(query: string): CachedSearch | undefined {
    const found = this.#find(query) ?? this.#find(evaluationPrefix + evaluationKey(query));
    if (!found) return undefined;
    const limit = Math.min(this.#ttlMs, isEmpty(found) ? this.#emptyTtlMs : Infinity);
    return Date.now() - found.at > limit ? undefined : found;
  }

  /**
   * The text the model reads for a query.
   * @param query what the model searched for, as in `get`
   */
  text(query: string, format: FormatOptions = {}): string | undefined {
    checkOptions("format a search", format, formatRules);
    const found = this.get(query);
    if (!found?.hits) return found?.text;
    const { maxResults, resultLength } = format;
    const made = this.#texts.get(found);
    if (made && made.maxResults === maxResults && made.resultLength === resultLength) {
      return made.text;
    }
    const text = formatHits(found.hits, format);
    this.#texts.set(found, { maxResults, resultLength, text });
    return text;
  }

  /**
   * Keeps what a search returned, in memory and in the file if there is one.
   * @param query what the model searched for, exactly
   * @param entry what the search returned
   */
  set(query: string, entry: CachedSearch): void {
    this.#memory.set(query, entry);
    this.#store?.set(query, entry);
  }

  /**
   * Files an entry under the evaluation cache's coarser key, where exact look-ups fall back to.
   * @param key the evaluation cache's key
   * @param entry what the search returned
   */
  setByEvaluationKey(key: string, entry: CachedSearch): void {
    this.set(evaluationPrefix + key, entry);
  }

  /** Every exact query and its entry, expired ones included. */
  *entries(): Generator<[string, CachedSearch]> {
    const keys = new Set([...(this.#store?.keys() ?? []), ...this.#memory.keys()]);
    for (const key of keys) {
      const entry = key.startsWith(evaluationPrefix) ? undefined : this.#find(key);
      if (entry) yield [key, entry];
    }
  }

  /** How many entries there are, in the file if there is one. */
  get size(): number {
    return this.#store?.size ?? this.#memory.size;
  }

  /** Drops what is in memory; the next look-up asks the file. */
  refresh(): void {
    this.#memory.clear();
  }

  close(): void {
    this.#store?.close();
  }

  #find(key: string): CachedSearch | undefined {
    const known = this.#memory.get(key);
    if (known) return known;
    const stored = this.#store?.get(key);
    if (stored) this.#memory.set(key, stored);
    return stored;
  }
}
