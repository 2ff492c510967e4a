/** A page of a browser, as far as tests that any browser can take drive it. */
export interface Driven {
  goto(address: string): Promise<unknown>;
  /** Calls a function in the page, with what it is given and nothing else that is around it here. */
  evaluate<T, A>(work: (given: A) => T | Promise<T>, given: A): Promise<T>;
}

export interface DrivenPage extends Driven {
  /** What its console said, of browsers that tell. */
  readonly said: readonly string[];
  close(): Promise<void>;
}

export interface TabBrowser {
  /** Its name and version, as it says them. */
  readonly name: string;
  /** A page that shares nothing with those before it. */
  newPage(): Promise<DrivenPage>;
  close(): Promise<void>;
}

/** A function as text, for a page: it takes JSON and gives JSON. */
export const inPage = (work: (given: never) => unknown): string =>
  `async (given) => {
    try {
      const value = await (${work.toString()})(JSON.parse(given).given);
      return JSON.stringify({ value });
    } catch (error) {
      return JSON.stringify({ error: String(error) });
    }
  }`;

/** What `inPage` came to. */
export function outOfPage<T>(json: string): T {
  const { value, error } = JSON.parse(json) as { value: T; error?: string };
  if (error !== undefined) throw new Error(error);
  return value;
}
