import type { JsonSchema } from "../../src/policy/structured/schema-parts.js";

/** A schema with values that it holds for and others; or the keyword that it is refused by. */
interface SchemaCase {
  schema: JsonSchema;
  good: readonly unknown[];
  bad: readonly unknown[];
  refused?: string;
}

/** A schema for each keyword that clients use. Keys of values come in the order of the schema. */
export const schemas: Readonly<Record<string, SchemaCase>> = {
  anyOf: {
    schema: {
      anyOf: [
        { type: "integer" },
        {
          type: "object",
          properties: { x: { type: "string" } },
          required: ["x"],
          additionalProperties: false,
        },
      ],
    },
    good: [3, { x: "a" }],
    bad: ["a", { y: 1 }, 1.5],
  },
  oneOf: {
    schema: { oneOf: [{ type: "string" }, { type: "boolean" }] },
    good: ["a", true],
    bad: [1],
  },
  enum: { schema: { enum: ["red", "green", 3, null] }, good: ["red", 3, null], bad: ["blue", 4] },
  const: {
    schema: {
      type: "object",
      properties: { kind: { const: "a" } },
      required: ["kind"],
      additionalProperties: false,
    },
    good: [{ kind: "a" }],
    bad: [{ kind: "b" }, {}],
  },
  nested: {
    schema: {
      type: "object",
      properties: {
        a: {
          type: "object",
          properties: {
            b: {
              type: "array",
              items: {
                type: "object",
                properties: { c: { type: "number" } },
                required: ["c"],
                additionalProperties: false,
              },
            },
          },
          required: ["b"],
          additionalProperties: false,
        },
      },
      required: ["a"],
      additionalProperties: false,
    },
    good: [{ a: { b: [] } }, { a: { b: [{ c: 1.5 }, { c: -2 }] } }],
    bad: [{ a: { b: [{}] } }, { a: {} }],
  },
  $ref: {
    schema: {
      $defs: {
        node: {
          type: "object",
          properties: {
            v: { type: "integer" },
            next: { anyOf: [{ $ref: "#/$defs/node" }, { type: "null" }] },
          },
          required: ["v", "next"],
          additionalProperties: false,
        },
      },
      $ref: "#/$defs/node",
    },
    good: [
      { v: 1, next: null },
      { v: 1, next: { v: 2, next: null } },
    ],
    bad: [{ v: 1 }, { v: 1, next: 2 }],
  },
  pattern: {
    schema: { type: "string", pattern: "^[A-Z]{2}-[0-9]{3}$" },
    good: ["AB-123"],
    bad: ["AB-12", "ab-123", "xAB-123"],
  },
  "pattern unanchored": {
    schema: { type: "string", pattern: "[0-9]" },
    good: ["a1b", "7"],
    bad: ["ab", ""],
  },
  "additionalProperties false": {
    schema: { type: "object", properties: { a: { type: "integer" } }, additionalProperties: false },
    good: [{}, { a: 1 }],
    bad: [{ b: 1 }, { a: 1, b: 2 }],
  },
  "additionalProperties schema": {
    schema: {
      type: "object",
      properties: { a: { type: "integer" } },
      additionalProperties: { type: "string" },
    },
    good: [{}, { a: 1, b: "c" }, { b: "c" }],
    bad: [{ b: 1 }, { a: "s" }],
  },
  "additionalProperties default": {
    schema: { type: "object", properties: { a: { type: "integer" } }, required: ["a"] },
    good: [{ a: 1 }, { a: 1, b: [1] }],
    bad: [{ a: "x" }],
  },
  "optional keys": {
    schema: {
      type: "object",
      properties: { a: { type: "integer" }, b: { type: "integer" }, c: { type: "integer" } },
      required: ["b"],
      additionalProperties: false,
    },
    good: [{ b: 1 }, { a: 1, b: 2 }, { b: 1, c: 2 }],
    bad: [{ a: 1 }, {}],
  },
  "key order": {
    schema: {
      type: "object",
      properties: { a: { type: "integer" }, b: { type: "integer" } },
      required: ["a", "b"],
      additionalProperties: false,
    },
    good: [{ a: 2, b: 1 }],
    bad: [{ b: 1, a: 2 }],
  },
  minItems: {
    schema: { type: "array", items: { type: "integer" }, minItems: 2, maxItems: 3 },
    good: [
      [1, 2],
      [1, 2, 3],
    ],
    bad: [[1], [1, 2, 3, 4], []],
  },
  prefixItems: {
    schema: {
      type: "array",
      prefixItems: [{ type: "string" }, { type: "integer" }],
      items: false,
      minItems: 2,
    },
    good: [["a", 1]],
    bad: [[1, "a"], ["a"], ["a", 1, 2]],
  },
  minLength: {
    schema: { type: "string", minLength: 2, maxLength: 4 },
    good: ["ab", "äöüß"],
    bad: ["a", "abcde"],
  },
  minimum: {
    schema: { type: "integer", minimum: 5, maximum: 120 },
    good: [5, 99, 120],
    bad: [4, 121, -7],
  },
  "number range": {
    schema: { type: "number", exclusiveMinimum: 0, maximum: 1 },
    good: [0.5, 1],
    bad: [0, 1.5, -1],
  },
  multipleOf: { schema: { type: "integer", multipleOf: 5 }, good: [10], bad: [11] },
  "format date": {
    schema: { type: "string", format: "date" },
    good: ["2026-11-28"],
    bad: ["yesterday"],
  },
  allOf: {
    schema: {
      allOf: [
        { type: "object", properties: { a: { type: "integer" } }, required: ["a"] },
        { properties: { b: { type: "string" } }, required: ["b"] },
      ],
    },
    good: [{ a: 1, b: "x" }],
    bad: [{ a: 1 }, { b: "x" }],
  },
  not: { schema: { not: { type: "string" } }, good: [1], bad: ["a"] },
  patternProperties: {
    schema: {
      type: "object",
      patternProperties: { "^x-": { type: "integer" } },
      additionalProperties: false,
    },
    good: [{ "x-a": 1 }, {}],
    bad: [{ y: 1 }, { "x-a": "s" }],
  },
  uniqueItems: {
    schema: { type: "array", items: { type: "integer" }, uniqueItems: true },
    good: [[1, 2]],
    bad: [[1, 1]],
    refused: "uniqueItems",
  },
  empty: { schema: {}, good: [1, "a", { a: [null] }], bad: [] },
};
