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
  search(query: string, call?: SearchCall): Promise<SearchHit[]>;
  dispose?(): void | Promise<void>;
}
