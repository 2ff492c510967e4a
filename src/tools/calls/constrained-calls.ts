import {
  EMPTY,
  type Expression,
  type Grammar,
  NONE,
  SPECIAL,
} from "../../policy/structured/grammar.js";
import { schemaGrammar } from "../../policy/structured/json-constraint.js";
import { type JsonSchema, SchemaError } from "../../policy/structured/schema-parts.js";
import type { CallDialect } from "./dialects/definition.js";

/** A function whose calls are held to a schema. */
export interface HeldFunction {
  name: string;
  parameters: JsonSchema;
}

/** What is held besides the arguments of calls. */
interface CallsToHold {
  /** The text begins behind this, the opening of a call. Default: nothing. */
  prefix?: string;
  /** One call and no more. */
  single: boolean;
  /** What an answer without a call is. Default: any text. */
  answer?: Expression;
}

/** A schema of a function's that cannot be held, with the function's name. */
export class FunctionSchemaError extends SchemaError {
  constructor(
    readonly functionName: string,
    error: SchemaError,
  ) {
    super(error.keyword, error.rule, error.got);
    this.message = this.message.replace("a JSON schema", `the schema of function ${functionName}`);
  }
}

/** The arguments of a function's calls, as JSON. */
export function argumentsOf(grammar: Grammar, { name, parameters }: HeldFunction): Expression {
  try {
    return schemaGrammar(grammar, parameters, { type: "object" });
  } catch (error) {
    throw error instanceof SchemaError ? new FunctionSchemaError(name, error) : error;
  }
}

/** Whether a dialect's calls have their arguments as JSON. */
export const writesJson = (dialect: CallDialect): boolean => dialect.closing !== undefined;

/** The texts of a dialect's model whose calls are of these functions, with arguments of their schemas. */
export function callsGrammar(
  grammar: Grammar,
  dialect: CallDialect,
  functions: readonly HeldFunction[],
  { prefix = "", single, answer }: CallsToHold,
): Expression {
  const g = grammar;
  const closing = g.literal(dialect.closing ?? "");
  const behind = (from: number, of: readonly HeldFunction[]) =>
    g.any(
      ...of.map((one) => {
        const opening = g.literal(dialect.opening(one.name).slice(from));
        return g.sequence(opening, argumentsOf(g, one), closing);
      }),
    );
  const any = g.repeat(g.symbols([0, SPECIAL]), 0);
  const { begins } = dialect;
  if ("message" in begins) {
    if (prefix !== "") return behind(prefix.length, begun(dialect, functions, prefix));
    const blank = g.symbols([9, 10], [13, 13], [32, 32]);
    const sign = begins.message.charCodeAt(0);
    const other = g.trimmed(
      g.both(g.symbols([0, SPECIAL]), g.not(g.any(blank, g.symbols([sign, sign])))),
    );
    const text = answer ?? g.sequence(g.repeat(blank, 0), g.optional(g.sequence(other, any)));
    return g.any(text, g.sequence(g.repeat(blank, 0, 2), behind(0, functions)));
  }
  const [marker = ""] = begins.anywhere(functions.map(({ name }) => name));
  const mark = g.literal(marker);
  const one = behind(marker.length, functions);
  const whole = g.rule("calls", answer === undefined || g.mayEnd(answer));
  const after = single
    ? EMPTY
    : answer === undefined
      ? whole
      : g.optional(g.sequence(g.literal("\n"), mark, one));
  if (answer === undefined) {
    // Text without the marker; or up to it, a call behind it, and then the same again.
    const without = g.trimmed(g.not(g.sequence(any, mark, any)));
    const upTo = g.trimmed(
      g.both(g.sequence(any, mark), g.not(g.sequence(any, mark, g.symbols([0, SPECIAL]), any))),
    );
    g.write(whole, g.any(without, g.sequence(upTo, one, after)));
  } else g.write(whole, g.any(answer, g.sequence(mark, one, after)));
  if (prefix === "") return whole;
  const started = behind(prefix.length, begun(dialect, functions, prefix));
  return started === NONE ? NONE : g.sequence(started, after);
}

const begun = (dialect: CallDialect, functions: readonly HeldFunction[], prefix: string) =>
  functions.filter(({ name }) => dialect.opening(name).startsWith(prefix));
