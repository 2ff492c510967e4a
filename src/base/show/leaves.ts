import { isRecord } from "../../../common/options/is-record.js";

/** Every leaf of nested objects with its dotted path; lists are leaves. */
export function* leaves(
  tree: Readonly<Record<string, unknown>>,
  prefix = "",
): Generator<[path: string, value: unknown]> {
  for (const [key, value] of Object.entries(tree)) {
    const path = prefix ? `${prefix}.${key}` : key;
    if (isRecord(value) && Object.keys(value).length > 0) yield* leaves(value, path);
    else yield [path, value];
  }
}
