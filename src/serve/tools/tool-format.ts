import type { RequestTool } from "../schema/chat.js";
import { blocks } from "../../text/blocks.js";
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
  /** What the text of a required call must begin with, one of them, where no prefix says it. */
  beginnings: readonly string[];
  /** The arguments of a forced call that the model did not write to its end, as far as they go. */
  unfinished: (text: string, name: string) => string;
}

/** The arguments of a call that was begun: what stands behind its beginning, without the brace that ends it. */
function afterPrefix(text: string, prefix: string): string {
  const inner = text.slice(prefix.length).trim();
  return inner.endsWith("}") ? inner.slice(0, -1).trim() : inner;
}

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
    beginnings: [],
    unfinished: (text, name) => afterPrefix(text.split("</tool_call>", 1)[0]!, prefix(name)),
    parse: (text) => {
      const calls: ToolCall[] = [];
      let [content, at] = ["", 0];
      for (const { from, to, inner } of blocks(text, "<tool_call>", "</tool_call>")) {
        const call = fromJson(inner.trim(), known);
        content += text.slice(at, call ? from : to);
        at = call && text[to] === "\n" ? to + 1 : to;
        if (call) calls.push(call);
      }
      content += text.slice(at);
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
    beginnings: [],
    unfinished: (text, name) => afterPrefix(text, prefix(name)),
    parse: (text) => {
      const call = fromJson(text.trim(), known);
      return call ? { content: "", calls: [call] } : { content: text, calls: [] };
    },
  };
}

function tags(tools: readonly RequestTool[]): ToolFormat {
  const names = tools.map(({ function: { name } }) => name);
  const prefix = (name: string | undefined) => (name === undefined ? "" : `<${name}>`);
  const argumentsOf = (name: string, inner: string) => {
    const tool = tools.find((t) => t.function.name === name)!;
    return asObject(inner) ? inner : JSON.stringify({ [onlyArgument(tool)]: inner.trim() });
  };
  return {
    name: "tags",
    markers: names.map((name) => `<${name}>`),
    wholeMessage: false,
    stops: names.map((name) => `</${name}>`),
    prefix,
    beginnings: names.map((name) => `<${name}>`),
    unfinished: (text, name) => argumentsOf(name, text.slice(prefix(name).length).trim()),
    parse: (text) => {
      const first = names
        .flatMap((name) => {
          const [block] = blocks(text, `<${name}>`, `</${name}>`);
          return block ? [{ name, block }] : [];
        })
        .sort((a, b) => a.block.from - b.block.from)[0];
      if (!first) return { content: text, calls: [] };
      const { name, block } = first;
      const call = { name, arguments: argumentsOf(name, block.inner) };
      return { content: text.slice(0, block.from), calls: [call] };
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
