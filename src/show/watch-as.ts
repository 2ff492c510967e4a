/** A value on its way to a page while it grows. */
export interface LiveShow {
  /** What it is doing, in a line. */
  tell?: (line: string) => void;
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
