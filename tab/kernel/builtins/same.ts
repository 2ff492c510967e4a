type Pair = [unknown, unknown];

const ownKeys = (value: object): PropertyKey[] =>
  Reflect.ownKeys(value).filter((key) => Object.prototype.propertyIsEnumerable.call(value, key));

/** Whether two values are the same all the way down, prototypes included; circles end. */
export function same(one: unknown, other: unknown, open: readonly Pair[] = []): boolean {
  if (Object.is(one, other)) return true;
  if (typeof one !== "object" || typeof other !== "object" || !one || !other) return false;
  if (Object.getPrototypeOf(one) !== Object.getPrototypeOf(other)) return false;
  if (open.some(([a, b]) => a === one && b === other)) return true;
  const within: readonly Pair[] = [...open, [one, other]];
  const inside = (a: unknown, b: unknown) => same(a, b, within);
  if (one instanceof Date) return one.getTime() === (other as Date).getTime();
  if (one instanceof RegExp) return String(one) === String(other);
  if (one instanceof Error) {
    if (one.message !== (other as Error).message || one.name !== (other as Error).name)
      return false;
  }
  if (ArrayBuffer.isView(one) && !(one instanceof DataView)) {
    const [a, b] = [one as Float64Array, other as Float64Array];
    return a.length === b.length && a.every((value, i) => Object.is(value, b[i]));
  }
  if (one instanceof Map) {
    const map = other as Map<unknown, unknown>;
    return (
      one.size === map.size &&
      [...one].every(([key, value]) =>
        map.has(key)
          ? inside(value, map.get(key))
          : [...map].some(([k, v]) => inside(key, k) && inside(value, v)),
      )
    );
  }
  if (one instanceof Set) {
    const set = other as Set<unknown>;
    return (
      one.size === set.size &&
      [...one].every((value) => set.has(value) || [...set].some((each) => inside(value, each)))
    );
  }
  if (Array.isArray(one) && one.length !== (other as unknown[]).length) return false;
  const [keys, others] = [ownKeys(one), new Set(ownKeys(other))];
  return (
    keys.length === others.size &&
    keys.every((key) => others.has(key) && inside(Reflect.get(one, key), Reflect.get(other, key)))
  );
}
