import type { Constraint } from "../../policy/policy.js";
import { constraintFor } from "../../policy/structured/grammar-constraint.js";
import { schemaGrammar } from "../../policy/structured/json-constraint.js";
import { type JsonSchema, SchemaError } from "../../policy/structured/schema-parts.js";
import {
  argumentsOf,
  callsGrammar,
  FunctionSchemaError,
  type HeldFunction,
  writesJson,
} from "../../tools/calls/constrained-calls.js";
import { callDialects } from "../../tools/calls/dialects/registry.js";
import type { Handling } from "./handler.js";
import { ApiError } from "./http/api-error.js";
import type { ChatBody } from "./schema/common.js";
import type { ChatPrompt } from "./tools/chat-prompt.js";

/** The schema of the answer that a request asks for. */
function answerSchema({ response_format: format }: ChatBody): JsonSchema | undefined {
  if (format?.type === "json_object") return { type: "object" };
  return format?.type === "json_schema" ? (format.json_schema.schema ?? true) : undefined;
}

/**
 * What the answer to a chat is held to: `response_format`, strict functions, and the function that is asked for by
 * name. Undefined where nothing is asked.
 */
export function constraintOf(
  { policy: { tokenizer, holdsConstraints = false }, recorder }: Handling,
  read: ChatBody,
  { format, prefix, forced }: ChatPrompt,
): Constraint | undefined {
  const schema = answerSchema(read);
  if (schema !== undefined && read.continue_final_message) {
    throw new ApiError(400, "An answer that was begun cannot be held to a format.", {
      param: "response_format",
    });
  }
  if (!holdsConstraints) {
    if (schema === undefined) return undefined;
    const message = "A policy at an endpoint cannot be held to a format here: ask the endpoint.";
    throw new ApiError(400, message, { param: "response_format", code: "invalid_value" });
  }
  const mustCall = read.tool_choice === "required" || forced !== undefined;
  const dialect = format && callDialects.get(format.name);
  const given = (dialect && read.tools) ?? [];
  const tools = dialect && writesJson(dialect) ? given : [];
  // A captured model learns to write calls: clients that send `strict` unasked change nothing there.
  const heeded = recorder === undefined || schema !== undefined;
  // Where calls are not written as JSON, a strict schema is looked at and not held.
  for (const { function: one } of heeded && tools.length === 0 ? given : []) {
    if (!one.strict) continue;
    const of = { name: one.name, parameters: one.parameters ?? true };
    const key = `arguments ${JSON.stringify(of)}`;
    held(read, () => constraintFor(tokenizer, key, (grammar) => argumentsOf(grammar, of)));
  }
  const isStrict = heeded && tools.some((tool) => tool.function.strict);
  const holdsCalls = tools.length > 0 && (isStrict || mustCall || schema !== undefined);
  if (!holdsCalls) {
    // A call that must be made and is not written as JSON is no answer of the format.
    if (schema === undefined || mustCall) return undefined;
    return held(read, () =>
      constraintFor(tokenizer, `schema ${JSON.stringify(schema)}`, (g) => schemaGrammar(g, schema)),
    );
  }
  const functionsOf = (all: boolean) =>
    tools
      .filter((tool) => forced === undefined || tool.function.name === forced)
      .map(({ function: { name, parameters, strict } }): HeldFunction => {
        const own = (heeded && strict) || (all && forced === name) ? parameters : undefined;
        return { name, parameters: own ?? true };
      });
  const single = mustCall || read.parallel_tool_calls === false;
  const answer = mustCall ? undefined : schema;
  const make = (functions: readonly HeldFunction[]) => {
    const key = JSON.stringify([dialect!.name, functions, prefix, single, answer]);
    return constraintFor(tokenizer, `calls ${key}`, (grammar) =>
      callsGrammar(grammar, dialect!, functions, {
        ...{ prefix, single },
        ...(answer === undefined ? {} : { answer: schemaGrammar(grammar, answer) }),
      }),
    );
  };
  if (isStrict || schema !== undefined) return held(read, () => make(functionsOf(true)));
  try {
    return make(functionsOf(true));
  } catch (error) {
    // Of a function that is not strict a schema is held where it can be.
    if (error instanceof FunctionSchemaError) return make(functionsOf(false));
    throw error;
  }
}

/** A schema that cannot be held is the client's to change. */
function held<T>(read: ChatBody, make: () => T): T {
  try {
    return make();
  } catch (error) {
    if (!(error instanceof SchemaError)) throw error;
    const at =
      error instanceof FunctionSchemaError
        ? read.tools!.findIndex((tool) => tool.function.name === error.functionName)
        : -1;
    const param = at < 0 ? "response_format" : `tools.${at}`;
    const about = at < 0 ? "" : ` of function ${read.tools![at]!.function.name}`;
    const message = `Invalid schema${about} for '${param}': ${error.message.replace(/^[^:]+: /, "")}.`;
    throw new ApiError(400, message, { param, code: "invalid_json_schema" });
  }
}
