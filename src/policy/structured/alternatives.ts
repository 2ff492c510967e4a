import { isRecord } from "../../../common/options/is-record.js";
import {
  constantsOf,
  type Fields,
  type JsonSchema,
  type JsonType,
  namedSchemas,
  requiredOf,
  SchemaError,
  schemasIn,
  typeOf,
  types,
  typesOf,
} from "./schema-parts.js";

/** A schema's fields, and those of what it refers to and of its `allOf`. */
type Flat = (schema: JsonSchema) => readonly Fields[];

/** Alternatives of which one alone may hold must be seen to differ. */
export function mustDiffer(branches: readonly JsonSchema[], flat: Flat): void {
  const looked = branches.map((schema) => look(schema, flat, new Set()));
  for (const [i, a] of looked.entries()) {
    for (const b of looked.slice(0, i)) {
      const isShared = [...a.types].some((type) => b.types.has(type));
      const apart =
        !isShared ||
        [...a.constants].some(([key, values]) => {
          const other = b.constants.get(key);
          return other !== undefined && [...values].every((value) => !other.has(value));
        });
      if (!apart) {
        const rule = "of schemas that differ by type, or by the constants of a required property";
        throw new SchemaError("oneOf", rule, "two that one value may fulfil; use anyOf");
      }
    }
  }
}

/** The types of a schema, and the constants of its value (under "") and its required properties. */
function look(
  schema: JsonSchema,
  flat: Flat,
  within: Set<JsonSchema>,
): { types: Set<JsonType>; constants: Map<string, Set<string>> } {
  const constants = new Map<string, Set<string>>();
  if (within.has(schema)) return { types: new Set(types), constants };
  within.add(schema);
  let found = new Set(types) as Set<JsonType>;
  const keep = (others: Set<JsonType>) => {
    found = new Set([...found].filter((type) => others.has(type)));
  };
  for (const fields of flat(schema)) {
    keep(typesOf(fields));
    const values = constantsOf(fields);
    if (values) {
      keep(new Set(values.map(typeOf)));
      constants.set("", new Set(values.map((value) => JSON.stringify(value))));
    }
    for (const keyword of ["anyOf", "oneOf"]) {
      if (fields[keyword] === undefined) continue;
      const inner = schemasIn(keyword, fields[keyword]).map((one) => look(one, flat, within));
      keep(new Set(inner.flatMap((one) => [...one.types])));
    }
    const named = namedSchemas("properties", fields["properties"]);
    for (const key of requiredOf(fields)) {
      const own = named.get(key);
      const inner = isRecord(own) ? constantsOf(own) : undefined;
      if (inner) constants.set(`.${key}`, new Set(inner.map((value) => JSON.stringify(value))));
    }
  }
  within.delete(schema);
  return { types: found, constants };
}
