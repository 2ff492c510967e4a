import { checkArguments } from "../../../common/options/check-arguments.js";
import type { Tokenizer } from "../../model/tokenizer/tokenizer.js";
import type { Constraint } from "../policy.js";
import type { Expression, Grammar } from "./grammar.js";
import { constraintFor } from "./grammar-constraint.js";
import { JsonGrammar } from "./json-grammar.js";
import { type JsonSchema, schemaIn, SchemaError } from "./schema-parts.js";

/** A schema that is written in more characters is refused. */
const MOST_TEXT = 200_000;

/** A schema as JSON; text that was read from outside may be of any size. */
function schemaText(schema: JsonSchema): string {
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
  return text;
}

/** The texts of a schema, and of another beside it. */
export function schemaGrammar(
  grammar: Grammar,
  schema: JsonSchema,
  beside: JsonSchema = true,
): Expression {
  const own = JSON.parse(schemaText(schema)) as JsonSchema;
  return new JsonGrammar(own, grammar).whole(beside);
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
 * import { HfTokenizer, Model } from "arpo-lab/model";
 * import { jsonConstraint, Policy } from "arpo-lab/policy";
 * import { trainBpe } from "arpo-lab/experimental/formats";
 *
 * const tokenizer = new HfTokenizer(trainBpe(["yes or no"], { vocabSize: 270 }));
 * const { vocabSize } = tokenizer;
 * const policy = Policy.fromModel(
 *   Model.init({ vocabSize, hiddenSize: 16, intermediateSize: 32, layers: 1, heads: 2 }, 1),
 *   tokenizer,
 * );
 * const constraint = jsonConstraint(tokenizer, { enum: ["yes", "no"] });
 * const { text } = await policy.generate("6*7=42?", { constraint });
 * assert.ok(["yes", "no"].includes(JSON.parse(text)));
 * ```
 */
export function jsonConstraint(tokenizer: Tokenizer, schema: JsonSchema): Constraint {
  checkArguments("make a constraint", { tokenizer }, { tokenizer: "tokenizer" });
  return constraintFor(tokenizer, `schema ${schemaText(schema)}`, (grammar) =>
    schemaGrammar(grammar, schema),
  );
}
