/**
 * Names of the session as global ones, for code that is evaluated in a function that does not know them;
 * a variable of that function still comes first. Only while the thread stands: nothing else runs that
 * could see them. Returns what takes them away again.
 */
export function expose(variables: Record<string, unknown>, names: readonly string[]): () => void {
  const before = new Map<string, PropertyDescriptor | undefined>();
  for (const name of names) {
    if (!Object.hasOwn(variables, name)) continue;
    const descriptor = Object.getOwnPropertyDescriptor(globalThis, name);
    if (descriptor?.configurable === false) continue;
    before.set(name, descriptor);
    Object.defineProperty(globalThis, name, {
      get: () => variables[name],
      set: (value) => (variables[name] = value),
      configurable: true,
      enumerable: false,
    });
  }
  return () => {
    for (const [name, descriptor] of before) {
      if (descriptor === undefined) Reflect.deleteProperty(globalThis, name);
      else Object.defineProperty(globalThis, name, descriptor);
    }
  };
}
