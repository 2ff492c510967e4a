import {
  callFormat,
  type CallFormat,
  dialectOfTemplate,
  type FunctionDefinition,
} from "../tools/calls/call-format.js";
import { callsGrammar, writesJson } from "../tools/calls/constrained-calls.js";
import { callDialects } from "../tools/calls/dialects/registry.js";
import { tags } from "../tools/calls/dialects/tags.js";
import type { Tokenizer } from "../model/tokenizer/tokenizer.js";
import type { Constraint } from "../policy/policy.js";
import { constraintFor } from "../policy/structured/grammar-constraint.js";
import type { JsonSchema } from "../policy/structured/schema-parts.js";
import { chatIn, type PromptTask } from "../policy/prompt.js";
import { ToolSet } from "../tools/tool-set.js";
import type { Tool } from "../tools/tool.js";
import type { ReadyOptions } from "./options.js";

/** What a tool takes that says nothing of it. */
const oneText = {
  type: "object",
  properties: { input: { type: "string" } },
  required: ["input"],
};

/** The tools of a rollout and of its environment, as templates show them. */
export function definitionsOf(
  tools: Iterable<Tool>,
  environment: Readonly<Record<string, string>>,
): FunctionDefinition[] {
  const define = (name: string, description: string, parameters: object): FunctionDefinition => ({
    type: "function",
    function: { name, description, parameters },
  });
  return [
    ...[...tools].map(({ tag, description, parameters }) =>
      define(tag, description, parameters ?? oneText),
    ),
    ...Object.entries(environment).map(([tag, description]) => define(tag, description, oneText)),
  ];
}

/** The options with the template's own way to call, where they leave that to it. */
export function withCallsOf(
  tokenizer: Pick<Tokenizer, "chat">,
  options: ReadyOptions,
): ReadyOptions {
  if (options.calls !== "auto") return options;
  return { ...options, calls: dialectOfTemplate(tokenizer) ?? tags };
}

/** The options with whether the model is told of its tools, and how it then calls them. */
export function withDescription(
  tokenizer: Pick<Tokenizer, "chat" | "knowsTags">,
  options: ReadyOptions,
  tasks: readonly PromptTask[],
): ReadyOptions {
  const { calls, tools, environment } = options;
  const chats = tasks.flatMap((task) => chatIn(task) ?? []);
  const hasTools = (tools && tools.tags.length > 0) || environment !== undefined;
  // A question is somebody else's text: what it names decides nothing.
  const names = (tag: string) =>
    chats.some(({ role, content }) => role === "system" && content.includes(`<${tag}>`));
  const describe =
    options.describe ??
    (tokenizer.knowsTags === false && !(tools ?? new ToolSet()).tags.some((tag) => names(tag)));
  if (!describe || !hasTools || chats.length === 0) return { ...options, describe: false };
  return { ...withCallsOf(tokenizer, { ...options, calls: calls ?? "auto" }), describe };
}

/** What holds calls to the schemas of their functions: what a trajectory may write. */
export function heldCalls(
  tokenizer: Tokenizer,
  calls: CallFormat | undefined,
  functions: readonly FunctionDefinition[],
): Constraint {
  const dialect = callDialects.get(calls?.name ?? "tags");
  if (!dialect || !writesJson(dialect)) {
    throw new RangeError(
      `Cannot roll out: strictCalls must go with tools that are called by JSON (calls: "hermes" or "json"), got ${functions.length === 0 ? "no tools" : (calls?.name ?? "tags")}`,
    );
  }
  const held = functions.map(({ function: { name, parameters } }) => ({
    name,
    parameters: parameters as JsonSchema,
  }));
  return constraintFor(tokenizer, `rollout ${JSON.stringify([dialect.name, held])}`, (grammar) =>
    callsGrammar(grammar, dialect, held, { single: false }),
  );
}

/** How calls are written; undefined for tags. */
export function nativeCalls(
  { calls = tags }: Pick<ReadyOptions, "calls">,
  tokenizer: Tokenizer,
  tools: readonly FunctionDefinition[],
): CallFormat | undefined {
  if (typeof calls === "object" && "parse" in calls) return calls;
  const dialect = typeof calls === "object" ? calls : callDialects.get(calls);
  if (dialect === tags || tools.length === 0) return undefined;
  if (dialect) return callFormat(dialect, tokenizer, tools);
  throw new RangeError(
    `Cannot roll out: calls must be the format ${calls} that the tree was made with, got its name alone`,
  );
}
