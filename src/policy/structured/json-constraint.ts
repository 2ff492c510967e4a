import { checkArguments } from "../../../common/options/check-arguments.js";
import type { Tokenizer } from "../../model/tokenizer/tokenizer.js";
import type { Constraint } from "../policy.js";
import { GrammarConstraint, TokenGrammar } from "./grammar-constraint.js";
import { JsonGrammar } from "./json-grammar.js";
import { type JsonSchema, schemaIn, SchemaError } from "./schema-parts.js";

/** A schema that is written in more characters is refused. */
const MOST_TEXT = 200_000;

/** The grammar of a schema, which JSON alone may have made. */
export function schemaGrammar(schema: JsonSchema): JsonGrammar {
  schemaIn("it", schema);
  let text: string | undefined;
  try {
    text = JSON.stringify(schema);
  } catch (error) {
    throw new SchemaError("it", "JSON", (error as Error).message);
  }
  if (text.length > MOST_TEXT) {
    throw new SchemaError("it", `written in at most ${MOST_TEXT} characters`, text.length);
  }
  return new JsonGrammar(JSON.parse(text) as JsonSchema);
}

/**
 * A constraint by which every answer is JSON that a schema holds for.
 *
 * Keys come in the schema's order, white space is one space behind a comma or a colon or none, and a number has at most
 * 15 digits before its point. A keyword that cannot be held is refused by name.
 *
 * @param tokenizer the policy's
 * @param schema a JSON schema of draft 2020-12; `true` is any JSON
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { jsonConstraint } from "arpo-lab/policy";
 * import { randomTextPolicy } from "arpo-lab/experimental/testing";
 *
 * const policy = randomTextPolicy();
 * const constraint = jsonConstraint(policy.tokenizer, { enum: ["yes", "no"] });
 * const { text } = await policy.generate("6*7=42?", { constraint, seed: 1 });
 * assert.ok(["yes", "no"].includes(JSON.parse(text)));
 * ```
 */
export function jsonConstraint(tokenizer: Tokenizer, schema: JsonSchema): Constraint {
  checkArguments("make a constraint", { tokenizer }, { tokenizer: "tokenizer" });
  const made = schemaGrammar(schema);
  return new GrammarConstraint(new TokenGrammar(made.grammar, tokenizer), made.whole());
}
