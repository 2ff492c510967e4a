type Optional<T> = { [K in keyof T]: undefined extends T[K] ? K : never }[keyof T];

/** An object without its undefined properties. */
type Defined<T> = Omit<T, Optional<T>> & {
  [K in Optional<T>]?: Exclude<T[K], undefined>;
};

/** The properties that have a value: for objects that are laid over others, and where an absent key differs. */
export function defined<T extends object>(properties: T): Defined<T> {
  const found = { ...properties };
  for (const [name, value] of Object.entries(found)) {
    if (value === undefined) Reflect.deleteProperty(found, name);
  }
  return found as unknown as Defined<T>;
}
