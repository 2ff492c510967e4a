import assert from "node:assert/strict";
import { test } from "node:test";
import { Ajv2020 } from "ajv/dist/2020.js";
import { HfTokenizer } from "../../model/tokenizer/hf-tokenizer.js";
import { trainBpe } from "../../model/tokenizer/train-bpe.js";
import { Random } from "../../base/random/random.js";
import type { Tokenizer } from "../../model/tokenizer/tokenizer.js";
import { ByteTokenizer } from "../../../tests/policy/byte-tokenizer.js";
import { schemas } from "../../../tests/policy/json-schemas.js";
import type { Constraint } from "../policy.js";
import { idsOf } from "../token-sets.js";
import { jsonConstraint } from "./json-constraint.js";
import type { JsonSchema } from "./schema-parts.js";

const words = ['{"a": 1, "b": [true, false, null], "kind": "search"}', "äöü ", '"},{"', "12 345"];
const bpe = new HfTokenizer(trainBpe(words, { vocabSize: 300 }));

const may = (mask: Uint32Array, id: number) => ((mask[id >>> 5]! >>> (id & 31)) & 1) === 1;

/** Whether a text can be written, token by token, and may end. */
function takes(tokenizer: Tokenizer, constraint: Constraint, text: string): boolean {
  const fork = constraint.fork();
  for (const id of tokenizer.encode(text)) {
    if (!may(fork.mask(), id)) return false;
    fork.take(id);
  }
  return may(fork.mask(), tokenizer.eosId);
}

/** A text written at random, with a liking for what closes. */
function written(tokenizer: Tokenizer, constraint: Constraint, random: Random): string {
  const fork = constraint.fork();
  const ids: number[] = [];
  for (;;) {
    const all = idsOf(fork.mask(), tokenizer.vocabSize);
    assert.ok(all.length > 0, `nothing may follow ${tokenizer.decode(ids)}`);
    const others = all.filter((id) => id !== tokenizer.eosId);
    const ends = others.length < all.length;
    if (ends && (others.length === 0 || random.uniform() < 0.5)) return tokenizer.decode(ids);
    const closing = others.filter((id) => /^["}\],:0-9a-fxyz]+$/.test(tokenizer.decode([id])));
    // The longer it is, the more it closes.
    const isTired = random.uniform() < 0.4 + ids.length / 400;
    const id = random.choose(closing.length > 0 && isTired ? closing : others);
    fork.take(id);
    ids.push(id);
    assert.ok(ids.length < 5_000, tokenizer.decode(ids));
  }
}

const ajv = new Ajv2020({ strict: false, validateFormats: false });

for (const [name, { schema, good, bad, refused }] of Object.entries(schemas)) {
  test(`JSON schema: ${name}`, () => {
    if (refused) {
      assert.throws(() => jsonConstraint(bpe, schema), new RegExp(`: ${refused} must be`));
      return;
    }
    const validate = ajv.compile(schema as object | boolean);
    for (const tokenizer of [bpe, new ByteTokenizer(['"}', '": ', "12"])]) {
      const constraint = jsonConstraint(tokenizer, schema);
      for (const value of good) {
        const text = JSON.stringify(value);
        // Without bytes of its own a tokenizer's parts of characters cannot be told.
        if (tokenizer === bpe || /^[ -~]*$/.test(text)) {
          assert.ok(takes(tokenizer, constraint, text), text);
        }
        const spaced = JSON.stringify(value, null, 1).replace(/\n\s*/g, " ");
        if (typeof value !== "object") assert.equal(takes(bpe, constraint, ` ${spaced}`), false);
      }
      for (const value of bad) {
        assert.equal(takes(tokenizer, constraint, JSON.stringify(value)), false, String(value));
      }
      const random = Random.from(7);
      for (let i = 0; i < 12; i++) {
        const text = written(tokenizer, constraint, random);
        assert.ok(validate(JSON.parse(text)), `${text} is not of ${name}`);
      }
    }
  });
}

/** A schema at random, of everything that is held. */
function randomSchema(random: Random, depth: number): JsonSchema {
  const inner = () => randomSchema(random, depth - 1);
  const leaf = [
    () => ({ type: "string", minLength: random.integer(3), maxLength: 3 + random.integer(9) }),
    () => ({
      type: "string",
      pattern: random.choose(["^[a-f]{2,}$", "x|yz", "^\\w+ ?é*$", '[^"]']),
    }),
    () => ({
      type: "integer",
      minimum: random.integer(2000) - 1000,
      maximum: 1000 + random.integer(9),
    }),
    () => {
      const low = (random.integer(2000) - 1000) / 100;
      const high = low + (1 + random.integer(3000)) / 1000;
      const hundredths = (x: number) => Math.round(x * 1000) / 1000;
      return random.uniform() < 0.5
        ? { type: "number", minimum: hundredths(low), exclusiveMaximum: hundredths(high) }
        : { type: "number", exclusiveMinimum: hundredths(low), maximum: hundredths(high) };
    },
    () => ({ type: "integer", multipleOf: 1 + random.integer(30), minimum: -40, maximum: 400 }),
    () => ({ enum: [1, 'ä"b', null, { k: [1] }, -0.5].slice(random.integer(4)) }),
    () => ({ type: random.choose(["null", "boolean", "number", ["string", "integer"]]) }),
    () => true,
  ];
  if (depth === 0) return random.choose(leaf)();
  const nested = [
    () => ({ type: "array", items: inner(), minItems: random.integer(3), maxItems: 3 }),
    () => ({ prefixItems: [inner(), inner()], type: "array", items: inner(), minItems: 1 }),
    () => ({ anyOf: [inner(), inner()] }),
    () => ({
      type: "object",
      properties: Object.fromEntries(
        ["a", "b", "ü\n"].slice(random.integer(3)).map((k) => [k, inner()]),
      ),
      required: random.choose([[], ["a"], ["c"]]),
      additionalProperties: random.choose([true, false, { type: "integer" }]),
    }),
    () => ({
      allOf: [{ type: ["object", "null"], properties: { a: inner() } }, { required: ["a"] }],
    }),
    () => ({
      type: "object",
      patternProperties: { "^x": inner(), y$: { type: ["integer", "null"] } },
    }),
    ...leaf,
  ];
  return random.choose(nested)();
}

test("what is written by random schemas is valid by ajv", () => {
  const random = Random.from(11);
  let [made, none] = [0, 0];
  for (let i = 0; i < 120; i++) {
    const schema = randomSchema(random, 2);
    let constraint: Constraint;
    try {
      constraint = jsonConstraint(bpe, schema);
    } catch (error) {
      // A property that is required and not allowed.
      assert.match(String(error), /one that some value fulfils/);
      none++;
      continue;
    }
    const validate = ajv.compile(schema as object | boolean);
    for (let k = 0; k < 4; k++) {
      const text = written(bpe, constraint, random);
      assert.ok(
        validate(JSON.parse(text)),
        `${JSON.stringify(schema)}: ${ajv.errorsText(validate.errors)}: ${text}`,
      );
    }
    made++;
  }
  assert.ok(made > 100, `${none} schemas that nothing fulfils`);
});

test("what cannot be held is refused by its name", () => {
  const refused: [JsonSchema, RegExp][] = [
    [{ if: true }, /: if must be left out/],
    [{ $ref: "#" }, /: \$ref must be to another schema in the end/],
    [
      {
        $ref: "#/$defs/a",
        $defs: { a: { $ref: "#/$defs/b" }, b: { allOf: [{ $ref: "#/$defs/a" }] } },
      },
      /: \$ref must be to another schema in the end/,
    ],
    [{ type: "strin" }, /: type must be a type of JSON/],
    [{ type: "string", format: "regex" }, /: format must be one of date/],
    [{ type: "string", pattern: "(?=a)" }, /: pattern must be .* look-around/],
    [{ type: "string", pattern: "(a)\\1" }, /: pattern must be .* \\1/],
    [{ type: "string", pattern: "[" }, /: pattern must be .* open class/],
    [
      { type: "string", pattern: "(a|b)*a(a|b){14}", maxLength: 100 },
      /: pattern must be one with fewer/,
    ],
    [{ type: "string", pattern: "a".repeat(2_001) }, /: pattern must be .* 2000 characters/],
    [{ type: "string", pattern: "(((a{2000}){2000}){2000}){2000}", minLength: 5 }, /fewer states/],
    [{ type: "integer", multipleOf: 0.1 }, /: multipleOf must be/],
    [{ type: "number", minimum: 1e300 }, /: minimum must be a number of at most 15 digits/],
    [{ oneOf: [{ type: "string" }, { maxLength: 3 }] }, /: oneOf must be/],
    [{ not: { const: 3 } }, /: not must be/],
    [{ $ref: "#/$defs/none" }, /: \$ref must be a place that is there/],
    [{ $ref: "other.json" }, /: \$ref must be a place in the same schema/],
    [
      { type: "object", required: ["a"], properties: { a: { $ref: "#" } } },
      /: \$ref must be to something that can end/,
    ],
    [{ type: "object", minProperties: 2 }, /: minProperties must be/],
    [{ type: "integer", minimum: 3, maximum: 2 }, /one that some value fulfils/],
    [{ enum: Array.from({ length: 9_000 }, (_, i) => `v${i}`) }, /: it must be smaller/],
    [{ description: "a".repeat(300_000) }, /: it must be written in at most 200000 characters/],
  ];
  for (const [schema, rule] of refused) assert.throws(() => jsonConstraint(bpe, schema), rule);
  let deep: JsonSchema = { type: "string" };
  for (let i = 0; i < 400; i++) deep = { type: "array", items: deep };
  assert.throws(() => jsonConstraint(bpe, deep), /: it must be at most 150 schemas deep/);
  const $defs = Object.fromEntries(
    Array.from({ length: 400 }, (_, i) => [`d${i}`, { $ref: `#/$defs/d${i + 1}` }]),
  );
  const chain = { $defs: { ...$defs, d400: { type: "null" } }, $ref: "#/$defs/d0" };
  assert.throws(() => jsonConstraint(bpe, chain), /: \$ref must be at most 200 deep/);
});

test("a small schema of many combinations or states is refused before it takes the memory", () => {
  const combinations = {
    allOf: Array.from({ length: 12 }, (_, i) => ({
      anyOf: Array.from({ length: 12 }, (__, j) => ({
        properties: { [`k${i}`]: { const: j } },
        required: [`k${i}`],
      })),
    })),
  };
  assert.throws(() => jsonConstraint(bpe, combinations), /at most 50000 combined schemas/);
  const divided = Array.from({ length: 900 }, (_, i) => ({
    ...{ type: "integer", multipleOf: 101 + (i % 100) },
    ...{ minimum: 1_000_003 * i, maximum: 1_000_003 * i + 99_999 },
  }));
  assert.throws(() => jsonConstraint(bpe, { anyOf: divided }), /must be smaller/);
  // One divisor has its states once.
  const [first] = divided;
  const { multipleOf } = first!;
  const same = { anyOf: divided.slice(0, 60).map((one) => ({ ...one, multipleOf })) };
  assert.ok(takes(bpe, jsonConstraint(bpe, same), "101"));
});

test("large schemas, long patterns and deep values take the time that they are long", () => {
  const properties = Object.fromEntries(
    Array.from({ length: 400 }, (_, i) => [`property_${i}`, { type: ["string", "null"] }]),
  );
  const wide = jsonConstraint(bpe, { type: "object", properties, additionalProperties: false });
  assert.ok(takes(bpe, wide, '{"property_3":"x","property_399":null}'));
  assert.equal(takes(bpe, wide, '{"property_4":"x","property_3":null}'), false);
  const slow = jsonConstraint(bpe, { type: "string", pattern: "^(a+)+(b|b)*(a|aa)*$" });
  assert.ok(takes(bpe, slow, `"${"a".repeat(3_000)}"`));
  assert.equal(takes(bpe, slow, `"${"a".repeat(3_000)}c"`), false);
  const tree = { $ref: "#/$defs/n", $defs: { n: { type: "array", items: { $ref: "#/$defs/n" } } } };
  const nested = jsonConstraint(bpe, tree);
  assert.ok(takes(bpe, nested, "[".repeat(500) + "]".repeat(500)));
});
