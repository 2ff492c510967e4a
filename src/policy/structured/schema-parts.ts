import { isRecord } from "../../../common/options/is-record.js";
import { shown } from "../../../common/options/check-arguments.js";

/** A JSON schema: an object, or one that everything or nothing fulfils. */
export type JsonSchema = boolean | Readonly<Record<string, unknown>>;

/** A keyword of a schema, or its value, that cannot be held while text is generated. */
export class SchemaError extends RangeError {
  constructor(
    readonly keyword: string,
    readonly rule: string,
    readonly got: unknown,
  ) {
    super(
      `Cannot hold a JSON schema: ${keyword} must be ${rule}, got ${typeof got === "string" ? got : shown(got)}`,
    );
  }
}

/** The fields of a schema that is an object. */
export type Fields = Readonly<Record<string, unknown>>;

/** The types of JSON, whole numbers apart from others. */
export const types = [
  "null",
  "boolean",
  "integer",
  "fraction",
  "string",
  "array",
  "object",
] as const;
export type JsonType = (typeof types)[number];

/** What no text depends on. */
const annotations = new Set([
  ...["title", "description", "default", "examples", "$schema", "$id", "$comment", "$defs"],
  ...["definitions", "deprecated", "readOnly", "writeOnly", "contentMediaType", "contentEncoding"],
]);

/** Keywords that are read. */
const held = new Set([
  ...["type", "enum", "const", "allOf", "anyOf", "oneOf", "not", "$ref"],
  ...["properties", "required", "additionalProperties", "patternProperties", "minProperties"],
  ...["maxProperties", "items", "prefixItems", "minItems", "maxItems", "uniqueItems"],
  ...["minLength", "maxLength", "pattern", "format", "minimum", "maximum", "exclusiveMinimum"],
  ...["exclusiveMaximum", "multipleOf"],
]);

/** Everything but texts. */
export function typesOf(schema: Readonly<Record<string, unknown>>): Set<JsonType> {
  const { type } = schema;
  if (type === undefined) return new Set(types);
  const names = Array.isArray(type) ? (type as unknown[]) : [type];
  const all = new Set<JsonType>();
  for (const name of names) {
    if (name === "number") all.add("integer").add("fraction");
    else if (name !== "fraction" && types.includes(name as JsonType)) all.add(name as JsonType);
    else throw new SchemaError("type", "a type of JSON, or a list of them", name);
  }
  return all;
}

/** The type of a value. */
export function typeOf(value: unknown): JsonType {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  if (typeof value === "number") return Number.isInteger(value) ? "integer" : "fraction";
  return typeof value as JsonType;
}

/** A schema's fields, all of which can be held. */
export function fieldsOf(schema: JsonSchema): Readonly<Record<string, unknown>> {
  if (schema === true) return {};
  if (schema === false) return { enum: [] };
  for (const name of Object.keys(schema)) {
    if (held.has(name) || annotations.has(name)) continue;
    throw new SchemaError(name, "left out: it cannot be held here", schema[name]);
  }
  return schema;
}

/** A field that is a schema. */
export function schemaIn(keyword: string, value: unknown): JsonSchema {
  if (typeof value === "boolean" || isRecord(value)) return value;
  throw new SchemaError(keyword, "a schema (an object, true or false)", value);
}

/** A field that is a list of schemas. */
export function schemasIn(keyword: string, value: unknown): readonly JsonSchema[] {
  if (!Array.isArray(value)) throw new SchemaError(keyword, "a list of schemas", value);
  return value.map((one) => schemaIn(keyword, one));
}

/** A field that holds schemas by name. */
export function namedSchemas(keyword: string, value: unknown): ReadonlyMap<string, JsonSchema> {
  if (value === undefined) return new Map();
  if (!isRecord(value)) throw new SchemaError(keyword, "an object of schemas", value);
  return new Map(Object.entries(value).map(([name, one]) => [name, schemaIn(keyword, one)]));
}

/** A field that counts. */
export function countIn(
  fields: Readonly<Record<string, unknown>>,
  keyword: string,
): number | undefined {
  const value = fields[keyword];
  if (value === undefined) return undefined;
  if (Number.isInteger(value) && (value as number) >= 0) return value as number;
  throw new SchemaError(keyword, "a whole number of at least 0", value);
}

/** The schema that a reference inside the same document names. */
export function resolve(root: JsonSchema, ref: unknown): JsonSchema {
  const wrong = (rule: string): never => {
    throw new SchemaError("$ref", rule, ref);
  };
  if (typeof ref !== "string" || !/^#(\/|$)/.test(ref)) {
    return wrong("a place in the same schema, such as #/$defs/name");
  }
  let at: unknown = root;
  for (const part of ref.split("/").slice(1)) {
    let name = part;
    try {
      name = decodeURIComponent(part).replaceAll("~1", "/").replaceAll("~0", "~");
    } catch {
      return wrong("a place that can be read");
    }
    const isHere = typeof at === "object" && at !== null && Object.hasOwn(at, name);
    if (!isHere) return wrong("a place that is there");
    at = (at as Record<string, unknown>)[name];
  }
  return schemaIn("$ref", at);
}

/** The values that a schema lists. */
export function constantsOf(fields: Fields): readonly unknown[] | undefined {
  const { enum: listed } = fields;
  if (listed !== undefined && !Array.isArray(listed)) {
    throw new SchemaError("enum", "a list of values", listed);
  }
  if (!Object.hasOwn(fields, "const")) return listed as unknown[] | undefined;
  const own = fields["const"];
  const isIn = !listed || listed.some((one) => JSON.stringify(one) === JSON.stringify(own));
  return isIn ? [own] : [];
}

/** The properties that a schema requires. */
export function requiredOf({ required = [] }: Fields): readonly string[] {
  if (Array.isArray(required) && required.every((name) => typeof name === "string"))
    return required;
  throw new SchemaError("required", "a list of names", required);
}
