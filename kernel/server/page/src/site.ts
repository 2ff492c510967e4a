/** What a page has that is a site in a browser tab. */
export interface Site {
  shareLink(path: string, notebook: object): Promise<string>;
  /** The first cells of the site's notebooks, by path: the launcher says what each is about without fetching it. */
  lessons: Record<string, string>;
  /** What cells compute with; a choice holds from the next load. */
  arithmetic: { possible: boolean; relaxed: boolean; choose(relaxed: boolean): void };
}

/** Undefined where a server stands behind the page. */
export const { arpoLabSite: site } = window as unknown as { arpoLabSite?: Site };
