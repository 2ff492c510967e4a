import type { LiveCurves } from "./live-curves.js";

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

/** How far work is, besides a line: as a share, as a table of its parts, as curves, where there are such. */
export interface LiveMore {
  share?: number;
  table?: string;
  curves?: LiveCurves;
}

/** A value on its way to a page while it grows. */
export interface LiveShow {
  /** What it is doing, in a line, and more of that. */
  tell?: (line: string, more?: LiveMore) => void;
  /** Whether the person who looks wants it to stop growing. */
  readonly stopping?: boolean;
  /** It has grown. */
  step: () => void;
  /** It will not grow further. */
  done: () => void;
}

/** Begins to show a value that grows; undefined where nobody looks. */
type Watch<T> = (value: T) => LiveShow | undefined;

const watches = new Map<string, Watch<never>>();

/** From here on values of a kind are shown this way while they grow. */
export function registerWatch<T>(kind: string, watch: Watch<T>): void {
  watches.set(kind, watch);
}

/** Shows a value of this kind while it grows; undefined where nobody has registered the kind. */
export function watchAs<T>(kind: string, value: T): LiveShow | undefined {
  const watch = watches.get(kind) as Watch<T> | undefined;
  return watch?.(value);
}
