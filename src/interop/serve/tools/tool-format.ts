import type { CallDialect } from "../../../tools/calls/dialects/definition.js";
import type { RequestTool } from "../schema/common.js";

/** A call that a model wrote. */
export interface ToolCall {
  name: string;
  /** JSON, as the model wrote it. */
  arguments: string;
}

/** What a text says, and what it calls. */
export interface ParsedTools {
  content: string;
  calls: ToolCall[];
}

/** A dialect with the functions of a request. */
export interface ToolFormat {
  name: string;
  /** Where a call begins; text from there on is not shown. */
  markers: readonly string[];
  /** The sign that a message begins with where a call is the whole message: one that does is held back. */
  message?: string;
  /** Generation ends here: the call is complete. */
  stops: readonly string[];
  /** What a forced call of a function, or of any, begins with. */
  prefix: (name: string | undefined) => string;
  /** Takes calls out of the end of a text. */
  parse: (text: string) => ParsedTools;
  /** What follows the prefix of a call of any function that must be made: one of these. */
  beginnings: readonly string[];
  /** The function that a text with one of these beginnings calls. */
  begun: (text: string) => string | undefined;
  /** The arguments of a forced call that the model did not write to its end, as far as they go. */
  unfinished: (text: string, name: string) => string;
}

/** The format that a prompt with its tools asks for; `single` is one call and no more. */
export function toolFormat(
  dialect: CallDialect,
  tools: readonly RequestTool[],
  single: boolean,
): ToolFormat {
  const names = tools.map((tool) => tool.function.name);
  const { begins } = dialect;
  const prefix: ToolFormat["prefix"] = (name) => dialect.opening(name);
  return {
    name: dialect.name,
    ...("message" in begins
      ? { markers: [], message: begins.message }
      : { markers: begins.anywhere(names) }),
    stops: single || dialect.isLast ? dialect.ends(names) : [],
    prefix,
    beginnings: names.map((name) => prefix(name).slice(prefix(undefined).length)),
    begun: (text) => names.find((name) => text.startsWith(prefix(name))),
    unfinished: (text, name) =>
      dialect.unfinished(
        text.slice(prefix(name).length),
        tools.find((tool) => tool.function.name === name)!,
      ),
    parse: (text) => {
      const calls: ToolCall[] = [];
      let [content, at] = ["", 0];
      for (const { name, arguments: args, problem, json, from, to } of dialect.read(text, tools)) {
        const call = problem === undefined && names.includes(name);
        content += text.slice(at, call ? from : to);
        at = call && text[to] === "\n" ? to + 1 : to;
        if (call) calls.push({ name, arguments: json ?? JSON.stringify(args) });
      }
      content += text.slice(at);
      return { content, calls };
    },
  };
}
