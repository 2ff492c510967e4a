import type { RequestTool } from "../schema/chat.js";
import { asObject, onlyArgument, type ParsedTools, type ToolCall } from "./tool-call.js";

/**
 * How a model writes the calls of functions. `hermes`: JSON between `<tool_call>` tags (Qwen). `json`:
 * the whole message is JSON (Llama 3). `tags`: `<search>query</search>`, as models trained here write.
 */
export type ToolFormatName = "hermes" | "json" | "tags";

export interface ToolFormat {
  name: ToolFormatName;
  /** Where a call begins; text from there on is not shown. */
  markers: readonly string[];
  /** A call is the whole message, so one that begins like JSON is held back. */
  wholeMessage: boolean;
  /** Generation ends here: the call is complete. */
  stops: readonly string[];
  /** What a forced call of a function, or of any, begins with. */
  prefix: (name: string | undefined) => string;
  /** Takes calls out of the end of a text. */
  parse: (text: string) => ParsedTools;
  /** The arguments of a forced call that the model did not write to its end, as far as they go. */
  unfinished: (text: string, name: string) => string;
}

/** What stands behind a call's beginning, without its end. */
const afterPrefix = (text: string, prefix: string, end: RegExp) =>
  text.slice(prefix.length).replace(end, "").trim();

/** A call of a known function from the JSON a model wrote. */
function fromJson(text: string, known: ReadonlySet<string>): ToolCall | undefined {
  const value = asObject(text);
  const name = value?.["name"];
  if (typeof name !== "string" || !known.has(name)) return undefined;
  const args = value?.["arguments"] ?? value?.["parameters"] ?? {};
  return { name, arguments: typeof args === "string" ? args : JSON.stringify(args) };
}

function hermes(known: ReadonlySet<string>, single: boolean): ToolFormat {
  const prefix = (name: string | undefined) =>
    name === undefined
      ? '<tool_call>\n{"name": "'
      : `<tool_call>\n{"name": ${JSON.stringify(name)}, "arguments": `;
  return {
    name: "hermes",
    markers: ["<tool_call>"],
    wholeMessage: false,
    stops: single ? ["</tool_call>"] : [],
    prefix,
    unfinished: (text, name) => afterPrefix(text, prefix(name), /\}?\s*(<\/tool_call>.*)?$/s),
    parse: (text) => {
      const calls: ToolCall[] = [];
      const content = text.replace(
        /<tool_call>\s*(.*?)\s*<\/tool_call>\n?/gs,
        (block, inner: string) => {
          const call = fromJson(inner, known);
          if (call) calls.push(call);
          return call ? "" : block;
        },
      );
      return { content, calls };
    },
  };
}

function json(known: ReadonlySet<string>): ToolFormat {
  const prefix = (name: string | undefined) =>
    name === undefined ? '{"name": "' : `{"name": ${JSON.stringify(name)}, "parameters": `;
  return {
    name: "json",
    markers: [],
    wholeMessage: true,
    stops: [],
    prefix,
    unfinished: (text, name) => afterPrefix(text, prefix(name), /\}?\s*$/),
    parse: (text) => {
      const call = fromJson(text.trim(), known);
      return call ? { content: "", calls: [call] } : { content: text, calls: [] };
    },
  };
}

function tags(tools: readonly RequestTool[]): ToolFormat {
  const names = tools.map(({ function: { name } }) => name);
  const prefix = (name: string | undefined) => `<${name ?? names[0]!}>`;
  const argumentsOf = (name: string, inner: string) => {
    const tool = tools.find((t) => t.function.name === name)!;
    return asObject(inner) ? inner : JSON.stringify({ [onlyArgument(tool)]: inner.trim() });
  };
  const shape = new RegExp(`<(${names.join("|")})>(.*?)</\\1>.*$`, "s");
  return {
    name: "tags",
    markers: names.map((name) => `<${name}>`),
    wholeMessage: false,
    stops: names.map((name) => `</${name}>`),
    prefix,
    unfinished: (text, name) => argumentsOf(name, afterPrefix(text, prefix(name), /$/)),
    parse: (text) => {
      const match = shape.exec(text);
      if (!match) return { content: text, calls: [] };
      const [, name, inner] = match as unknown as [string, string, string];
      const call = { name, arguments: argumentsOf(name, inner) };
      return { content: text.slice(0, match.index), calls: [call] };
    },
  };
}

/** The format that a prompt with its tools asks for; `single` is one call and no more. */
export function toolFormat(
  name: ToolFormatName,
  tools: readonly RequestTool[],
  single: boolean,
): ToolFormat {
  const known = new Set(tools.map((tool) => tool.function.name));
  if (name === "tags") return tags(tools);
  return name === "hermes" ? hermes(known, single) : json(known);
}
