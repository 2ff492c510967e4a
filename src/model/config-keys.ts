/** Reads keys of config.json, refusing what is of another kind than it must be. */
export interface ConfigKeys {
  /** A number, or its default; without a default it must be there. */
  number(key: string, fallback?: number): number;
  text(key: string): string;
  numbers(key: string): number[];
  texts(key: string): string[];
  flag(key: string, fallback?: boolean | undefined): boolean;
  /** Whether there is such a key, with a value. */
  has(key: string): boolean;
  /** The keys below a key. */
  below(key: string): ConfigKeys;
  refuse(rule: string, got: unknown, hint?: string): never;
}

/** The keys of an object of config.json. */
export function configKeys(json: Readonly<Record<string, unknown>>): ConfigKeys {
  const refuse = (rule: string, got: unknown, hint = ""): never => {
    throw new RangeError(
      `Cannot read config.json: ${rule}, got ${JSON.stringify(got) ?? "undefined"}${hint}`,
    );
  };
  const list = <T>(key: string, is: (item: unknown) => item is T, what: string): T[] => {
    const found = json[key];
    return Array.isArray(found) && found.every(is)
      ? found
      : refuse(`${key} must be ${what}`, found);
  };
  const isNumber = (item: unknown): item is number => Number.isFinite(item);
  return {
    refuse,
    number(key, fallback) {
      const value = json[key] ?? fallback;
      return isNumber(value) ? value : refuse(`${key} must be a number`, json[key]);
    },
    text(key) {
      const value = json[key];
      return typeof value === "string" ? value : refuse(`${key} must be a text`, value);
    },
    numbers: (key) => list(key, isNumber, "a list of numbers"),
    texts: (key) => list(key, (item) => typeof item === "string", "a list of texts"),
    flag(key, fallback = false) {
      const value = json[key] ?? fallback;
      return typeof value === "boolean" ? value : refuse(`${key} must be true or false`, value);
    },
    has: (key) => json[key] !== undefined && json[key] !== null,
    below(key) {
      const found = json[key];
      return typeof found === "object" && found !== null && !Array.isArray(found)
        ? configKeys(found as Record<string, unknown>)
        : refuse(`${key} must be an object`, found);
    },
  };
}
