/** What a page or a terminal shows of a value, by media type. */
export type Shown = Record<string, string> | Promise<Record<string, string>>;

/** Makes what is shown of a value. */
type Show<T> = (value: T) => Shown;

const shows = new Map<string, Show<never>>();

/**
 * From here on values of a kind show themselves this way. Modules that make values know nothing of views:
 * they ask with `showAs`, and whoever can show a kind registers it, as `arpo-lab/view` does.
 */
export function registerShow<T>(kind: string, show: Show<T>): void {
  shows.set(kind, show);
}

/** What is shown of a value of this kind; its `toString()` where nobody has registered the kind. */
export function showAs<T extends { toString(): string }>(kind: string, value: T): Shown {
  const show = shows.get(kind) as Show<T> | undefined;
  return show ? show(value) : { "text/plain": value.toString() };
}
