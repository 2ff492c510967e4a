import {
  callFormat,
  type CallFormat,
  type CallFormatName,
  callFormatNames,
  formatOfTemplate,
  type FunctionDefinition,
} from "../tools/calls/call-format.js";
import type { Tokenizer } from "../model/tokenizer/tokenizer.js";
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
  return { ...options, calls: formatOfTemplate(tokenizer) ?? "tags" };
}

/** How calls are written; undefined for tags. */
export function nativeCalls(
  { calls = "tags" }: Pick<ReadyOptions, "calls">,
  tokenizer: Tokenizer,
  tools: readonly FunctionDefinition[],
): CallFormat | undefined {
  if (typeof calls === "object") return calls;
  if (calls === "tags" || tools.length === 0) return undefined;
  if (callFormatNames.includes(calls as CallFormatName)) {
    return callFormat(calls as CallFormatName, tokenizer, tools);
  }
  throw new RangeError(
    `Cannot roll out: calls must be the format ${calls} that the tree was made with, got its name alone`,
  );
}
