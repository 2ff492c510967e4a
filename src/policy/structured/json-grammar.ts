import { isRecord } from "../../../common/options/is-record.js";
import { anyCharacter, escaped } from "./characters.js";
import { EMPTY, type Expression, Grammar, GrammarLimit, NONE } from "./grammar.js";
import { patternOf, PatternError } from "./pattern.js";
import { mustDiffer } from "./alternatives.js";
import { ScalarForms } from "./scalars.js";
import {
  constantsOf,
  countIn,
  type Fields,
  fieldsOf,
  type JsonSchema,
  type JsonType,
  namedSchemas,
  requiredOf,
  resolve,
  schemaIn,
  SchemaError,
  schemasIn,
  typeOf,
  types,
  typesOf,
} from "./schema-parts.js";

/** How many schemas the combinations of one grammar may have, how deep references may lead, and properties of an object. */
const MOST_SCHEMAS = 50_000;
const MOST_REFERENCES = 200;
const MOST_DEPTH = 150;
const MOST_PROPERTIES = 1_000;
const MOST_PATTERNS = 3;

/** A schema of several that hold together; `chosen`: its alternatives were looked at. */
interface Part {
  schema: JsonSchema;
  chosen: boolean;
}

/** JSON schemas as expressions. Objects have their keys in the schema's order; white space is one space or none. */
export class JsonGrammar {
  readonly grammar: Grammar;
  readonly #root: JsonSchema;
  readonly #scalars: ScalarForms;
  readonly #made = new Map<string, Expression>();
  readonly #ids = new Map<JsonSchema, number>();
  readonly #comma: Expression;
  readonly #colon: Expression;
  readonly #text: Expression;
  #depth = 0;
  #combined = 0;

  constructor(root: JsonSchema, grammar = new Grammar()) {
    this.#root = root;
    this.grammar = grammar;
    this.#scalars = new ScalarForms(grammar);
    const space = grammar.optional(grammar.literal(" "));
    this.#comma = grammar.sequence(grammar.literal(","), space);
    this.#colon = grammar.sequence(grammar.literal(":"), space);
    this.#text = anyCharacter(grammar);
  }

  /** The texts that fulfil the whole schema, and another beside it. */
  whole(beside: JsonSchema = true): Expression {
    let made: Expression;
    try {
      made = this.#all([this.#root, beside].map((schema) => ({ schema, chosen: false })));
    } catch (error) {
      if (error instanceof GrammarLimit) {
        throw new SchemaError("it", "smaller", `one with ${error.message}`);
      }
      throw error;
    }
    const endless = this.grammar.endless();
    if (endless !== undefined) {
      throw new SchemaError(
        "$ref",
        "to something that can end",
        `one that never does (${endless})`,
      );
    }
    if (!this.grammar.mayEnd(made) && this.#isNone(made)) {
      throw new SchemaError("it", "one that some value fulfils", "one that none does");
    }
    return made;
  }

  #isNone(made: Expression): boolean {
    return Array.from({ length: 256 }, (_, byte) => this.grammar.next(made, byte)).every(
      (next) => next === NONE,
    );
  }

  /** The values that fulfil several schemas together; a rule, so that schemas may refer to themselves. */
  #all(parts: readonly Part[]): Expression {
    const flat = this.#flattened(parts);
    const key = [
      ...new Set(flat.map((part) => `${this.#id(part.schema)}${part.chosen ? "*" : ""}`)),
    ]
      .sort()
      .join();
    const known = this.#made.get(key);
    if (known !== undefined) return known;
    this.#combined += flat.length;
    if (this.#combined > MOST_SCHEMAS) {
      throw new SchemaError("it", `of at most ${MOST_SCHEMAS} combined schemas`, "one of more");
    }
    const place = flat.flatMap(({ schema }) => (isRecord(schema) ? Object.keys(schema) : []));
    const rule = this.grammar.rule(place.slice(0, 5).join(", "));
    this.#made.set(key, rule);
    if (++this.#depth > MOST_DEPTH) {
      throw new SchemaError("it", `at most ${MOST_DEPTH} schemas deep`, "a deeper one");
    }
    const is = this.#choices(flat);
    this.#depth--;
    this.grammar.write(rule, is);
    // A rule of no text would be a state without an end.
    if (is === NONE) this.#made.set(key, NONE);
    return is === NONE ? NONE : rule;
  }

  /** Schemas with those that they refer to, or that `allOf` has. */
  #flattened(parts: readonly Part[]): Part[] {
    const flat: Part[] = [];
    const seen = new Set<JsonSchema>();
    const add = (part: Part, ways: readonly JsonSchema[]): void => {
      const { schema } = part;
      if (ways.length > MOST_REFERENCES) {
        throw new SchemaError("$ref", `at most ${MOST_REFERENCES} deep`, "deeper ones");
      }
      if (ways.includes(schema)) {
        throw new SchemaError("$ref", "to another schema in the end", "one that leads to itself");
      }
      if (schema === true || (seen.has(schema) && !part.chosen)) return;
      seen.add(schema);
      const fields = fieldsOf(schema);
      flat.push(part);
      for (const one of fields["allOf"] === undefined ? [] : schemasIn("allOf", fields["allOf"])) {
        add({ schema: one, chosen: false }, [...ways, schema]);
      }
      if (fields["$ref"] !== undefined) {
        add({ schema: resolve(this.#root, fields["$ref"]), chosen: false }, [...ways, schema]);
      }
    };
    // What was looked at first: a schema that was is not looked at again.
    for (const part of [...parts].sort((a, b) => Number(b.chosen) - Number(a.chosen)))
      add(part, []);
    return flat;
  }

  #id(schema: JsonSchema): number {
    const known = this.#ids.get(schema) ?? this.#ids.size;
    this.#ids.set(schema, known);
    return known;
  }

  /** The first alternatives, one after the other, each with everything else. */
  #choices(parts: readonly Part[]): Expression {
    const at = parts.findIndex(({ schema, chosen }) => {
      const { anyOf, oneOf } = fieldsOf(schema);
      return !chosen && (anyOf !== undefined || oneOf !== undefined);
    });
    if (at < 0) return this.#plain(parts.map(({ schema }) => fieldsOf(schema)));
    const own = parts[at]!.schema;
    const { anyOf, oneOf } = fieldsOf(own);
    const others = parts.map((part, i) => (i === at ? { schema: own, chosen: true } : part));
    const first = anyOf === undefined ? undefined : schemasIn("anyOf", anyOf);
    const second = oneOf === undefined ? undefined : schemasIn("oneOf", oneOf);
    if (second) {
      const flat = (schema: JsonSchema) =>
        this.#flattened([{ schema, chosen: false }]).map((part) => fieldsOf(part.schema));
      mustDiffer(second, flat);
    }
    const branches = first ?? second!;
    return this.grammar.any(
      ...branches.flatMap((one) =>
        (first && second ? second : [undefined]).map((other) =>
          this.#all([
            ...others,
            { schema: one, chosen: false },
            ...(other === undefined ? [] : [{ schema: other, chosen: false }]),
          ]),
        ),
      ),
    );
  }

  /** Schemas without alternatives. */
  #plain(all: readonly Fields[]): Expression {
    let left = new Set<JsonType>(types);
    for (const fields of all) {
      const own = typesOf(fields);
      const not = notTypes(fields);
      left = new Set([...left].filter((type) => own.has(type) && !not.has(type)));
    }
    const listed = all.map(constantsOf).filter((values) => values !== undefined);
    const made = [...left].map((type) => [type, () => this.#ofType(type, all, left)] as const);
    if (listed.length === 0) return this.grammar.any(...made.map(([, make]) => make()));
    // Values that are listed everywhere, and that fulfil everything else.
    const others = listed.slice(1).map((values) => new Set(values.map((v) => JSON.stringify(v))));
    const values = listed[0]!.filter(
      (value) =>
        left.has(typeOf(value)) && others.every((other) => other.has(JSON.stringify(value))),
    );
    if (values.length === 0) return NONE;
    const rest = this.grammar.any(
      ...made.filter(([type]) => values.some((v) => typeOf(v) === type)).map(([, make]) => make()),
    );
    const isFree = all.every((fields) => Object.keys(fields).every((name) => unbounded.has(name)));
    return this.grammar.any(
      ...values
        .filter((value) => isFree || this.grammar.matches(rest, JSON.stringify(value)))
        .map((value) => this.#value(value)),
    );
  }

  #value(value: unknown): Expression {
    const g = this.grammar;
    if (Array.isArray(value))
      return this.#list(
        value.map((one) => this.#value(one)),
        EMPTY,
      );
    if (!isRecord(value)) return g.literal(JSON.stringify(value));
    const members = Object.entries(value).map(([key, one]) =>
      g.sequence(g.literal(`"${escaped(key)}"`), this.#colon, this.#value(one)),
    );
    return g.sequence(g.literal("{"), this.#joined(members, EMPTY), g.literal("}"));
  }

  #ofType(type: JsonType, all: readonly Fields[], left: ReadonlySet<JsonType>): Expression {
    const g = this.grammar;
    switch (type) {
      case "null":
        return g.literal("null");
      case "boolean":
        return g.any(g.literal("true"), g.literal("false"));
      case "string":
        return g.sequence(g.literal('"'), this.#scalars.string(all), g.literal('"'));
      case "integer":
        // Where other numbers may stand, whole ones are among them.
        return left.has("fraction") ? NONE : this.#scalars.number(all, true);
      case "fraction":
        return this.#scalars.number(all, !left.has("integer"));
      case "array":
        return this.#array(all);
      default:
        return this.#object(all);
    }
  }

  #array(all: readonly Fields[]): Expression {
    const g = this.grammar;
    let [least, most] = [0, Infinity];
    let length = 0;
    const kinds: { first: readonly JsonSchema[]; rest: JsonSchema }[] = [];
    for (const fields of all) {
      least = Math.max(least, countIn(fields, "minItems") ?? 0);
      most = Math.min(most, countIn(fields, "maxItems") ?? Infinity);
      const { uniqueItems, prefixItems, items } = fields;
      if (uniqueItems !== undefined && uniqueItems !== false) {
        throw new SchemaError("uniqueItems", "left out: it cannot be held here", uniqueItems);
      }
      const first = prefixItems === undefined ? [] : schemasIn("prefixItems", prefixItems);
      const rest = items === undefined ? true : schemaIn("items", items);
      kinds.push({ first, rest });
      length = Math.max(length, first.length);
    }
    if (length > MOST_PROPERTIES) {
      throw new SchemaError("prefixItems", `at most ${MOST_PROPERTIES} schemas`, length);
    }
    const at = (i: number) =>
      this.#all(kinds.map(({ first, rest }) => ({ schema: first[i] ?? rest, chosen: false })));
    const rest = at(length);
    const one = g.sequence(this.#comma, rest);
    // From the last named item to the first: what may follow it.
    const mostMore = Math.max(0, most - length);
    let follow = least > most ? NONE : g.repeat(one, Math.max(0, least - length), mostMore);
    for (let i = length - 1; i >= 0; i--) {
      const item = i < most ? g.sequence(i === 0 ? EMPTY : this.#comma, at(i), follow) : NONE;
      follow = i >= least ? g.optional(item) : item;
    }
    if (length === 0 && most > 0) {
      const more = g.repeat(one, Math.max(0, least - 1), most - 1);
      follow = least > most ? NONE : g.sequence(rest, more);
      if (least === 0) follow = g.optional(follow);
    }
    return g.sequence(g.literal("["), follow, g.literal("]"));
  }

  #list(items: readonly Expression[], rest: Expression): Expression {
    const g = this.grammar;
    return g.sequence(g.literal("["), this.#joined(items, rest), g.literal("]"));
  }

  #joined(items: readonly Expression[], rest: Expression): Expression {
    const parts = items.flatMap((item, i) => (i === 0 ? [item] : [this.#comma, item]));
    return this.grammar.sequence(...parts, rest);
  }

  #object(all: readonly Fields[]): Expression {
    const g = this.grammar;
    const kinds = all.map((fields) => ({
      named: namedSchemas("properties", fields["properties"]),
      patterns: [...namedSchemas("patternProperties", fields["patternProperties"])].map(
        ([source, schema]) => ({ source, schema, is: this.#pattern(source) }),
      ),
      rest:
        fields["additionalProperties"] === undefined
          ? true
          : schemaIn("additionalProperties", fields["additionalProperties"]),
    }));
    const required = new Set(all.flatMap(requiredOf));
    const names = new Set([...kinds.flatMap(({ named }) => [...named.keys()]), ...required]);
    if (names.size > MOST_PROPERTIES) {
      throw new SchemaError("properties", `at most ${MOST_PROPERTIES} of an object`, names.size);
    }
    const patterns = [
      ...new Map(kinds.flatMap((kind) => kind.patterns.map((p) => [p.source, p]))),
    ].map(([, pattern]) => pattern);
    if (patterns.length > MOST_PATTERNS) {
      throw new SchemaError("patternProperties", `at most ${MOST_PATTERNS}`, patterns.length);
    }
    /** What a key's value must be, by the patterns that its name has. */
    const valueOf = (name: string | undefined, has: (source: string) => boolean) =>
      this.#all(
        kinds.flatMap(({ named, patterns: own, rest }) => {
          const found = own.filter(({ source }) => has(source)).map(({ schema }) => schema);
          const known = name === undefined ? undefined : named.get(name);
          const schemas = known === undefined ? found : [known, ...found];
          return (schemas.length > 0 ? schemas : [rest]).map((schema) => ({
            schema,
            chosen: false,
          }));
        }),
      );
    const member = (key: Expression, value: Expression) =>
      g.sequence(g.literal('"'), key, g.literal('"'), this.#colon, value);
    const named = [...names].map((name) => {
      const has = (source: string) =>
        g.matches(patterns.find((one) => one.source === source)!.is, escaped(name));
      return { name, is: member(g.literal(escaped(name)), valueOf(name, has)) };
    });
    const others = this.#otherKeys([...names], patterns).map(({ key, has }) =>
      member(
        key,
        valueOf(undefined, (source) => has.has(source)),
      ),
    );
    const other = g.any(...others);
    this.#checkCounts(all, required.size, named.length, other === NONE);
    // From the last property to the first: what may follow where something stands before, and where nothing does.
    let behind = g.repeat(g.sequence(this.#comma, other), 0);
    let first = g.optional(g.sequence(other, behind));
    for (const { name, is } of named.reverse()) {
      const [own, ownFirst] = [g.sequence(this.#comma, is, behind), g.sequence(is, behind)];
      if (required.has(name)) [first, behind] = [ownFirst, own];
      else [first, behind] = [g.any(ownFirst, first), g.any(own, behind)];
    }
    return g.sequence(g.literal("{"), first, g.literal("}"));
  }

  #pattern(source: string): Expression {
    try {
      return patternOf(this.grammar, source);
    } catch (error) {
      if (!(error instanceof PatternError)) throw error;
      const rule = `expressions that can be held: ${error.message}`;
      throw new SchemaError("patternProperties", rule, source);
    }
  }

  /** Keys that are not named, by the patterns that they have. */
  #otherKeys(
    names: readonly string[],
    patterns: readonly { source: string; is: Expression }[],
  ): { key: Expression; has: ReadonlySet<string> }[] {
    const g = this.grammar;
    const any = g.repeat(this.#text, 0);
    const free = g.both(any, g.not(g.any(...names.map((name) => g.literal(escaped(name))))));
    if (patterns.length === 0) return [{ key: names.length === 0 ? any : free, has: new Set() }];
    return Array.from({ length: 2 ** patterns.length }, (_, bits) => {
      const has = patterns.filter((__, i) => (bits >> i) & 1);
      const parts = patterns.map((one) => (has.includes(one) ? one.is : g.not(one.is)));
      const key = this.#scalars.bounded("patternProperties", "one of more", () =>
        parts.reduce((a, b) => g.both(a, b), free),
      );
      return { key, has: new Set(has.map(({ source }) => source)) };
    });
  }

  /** Counts of properties are held where the schema says them anyway. */
  #checkCounts(all: readonly Fields[], required: number, named: number, isClosed: boolean): void {
    for (const fields of all) {
      const least = countIn(fields, "minProperties") ?? 0;
      const most = countIn(fields, "maxProperties") ?? Infinity;
      if (least > required) {
        const rule = `at most the ${required} required properties`;
        throw new SchemaError("minProperties", rule, least);
      }
      if (most < named || (most < Infinity && !isClosed)) {
        const rule = "at least as many as there can be";
        throw new SchemaError("maxProperties", rule, most);
      }
    }
  }
}

/** Fields by which a value that is listed is not judged again. */
const unbounded = new Set([
  ...["enum", "const", "type", "title", "description", "default", "examples", "$ref", "allOf"],
  ...["anyOf", "oneOf", "$defs", "definitions", "$schema", "$id", "$comment", "deprecated"],
]);

/** The types that `not` forbids; nothing else of it can be held. */
function notTypes({ not }: Fields): Set<JsonType> {
  if (not === undefined || not === false) return new Set();
  if (not === true) return new Set(types);
  const fields = schemaIn("not", not) as Fields;
  if (Object.keys(fields).join() !== "type") {
    throw new SchemaError("not", "a schema of nothing but a type", not);
  }
  const named = typesOf(fields);
  if (named.has("integer") !== named.has("fraction")) {
    throw new SchemaError("not", "a schema of a type other than integer", not);
  }
  return named;
}
