/** A value that JSON can carry. */
export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

/**
 * Any value as JSON, where `JSON.stringify` would fail or lose: typed arrays become arrays, NaN and
 * infinities null, big integers numbers while exact, Maps objects, Sets arrays.
 */
export function toJson(value: unknown): Json {
  return convert(value, []);
}

function convert(value: unknown, path: object[]): Json {
  switch (typeof value) {
    case "string":
    case "boolean":
      return value;
    case "number":
      return Number.isFinite(value) ? value : null;
    case "bigint":
      return Number.isSafeInteger(Number(value)) ? Number(value) : value.toString();
    case "object":
      return value === null ? null : container(value, path);
    default:
      return null;
  }
}

function container(value: object, path: object[]): Json {
  if (path.includes(value)) {
    throw new TypeError("Cannot write JSON: a value must not contain itself");
  }
  const inside = [...path, value];
  const list = (items: Iterable<unknown>): Json[] => Array.from(items, (v) => convert(v, inside));
  if (Array.isArray(value)) return list(value);
  if (ArrayBuffer.isView(value) && !(value instanceof DataView)) {
    return list(value as unknown as Iterable<unknown>);
  }
  if (value instanceof Set) return list(value);
  if (value instanceof Map) return record(value.entries(), inside);
  const own = (value as { toJSON?: unknown }).toJSON;
  if (typeof own === "function") return convert((own as () => unknown).call(value), inside);
  return record(Object.entries(value), inside);
}

function record(entries: Iterable<[unknown, unknown]>, path: object[]): Json {
  const out: Record<string, Json> = {};
  for (const [key, value] of entries) {
    if (value !== undefined && typeof value !== "function") out[String(key)] = convert(value, path);
  }
  return out;
}
