import { type CallFormatName, readCalls } from "../../../tools/calls/call-format.js";
import { blocks } from "../../../base/text/result-block.js";
import type { RequestTool } from "../schema/common.js";
import { isRecord } from "../../../../common/options/is-record.js";

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

/** The argument that a call by tag has: the first required one of its schema, else the first. */
function onlyArgument({ function: { parameters } }: RequestTool): string {
  const { required, properties } = (parameters ?? {}) as {
    required?: unknown;
    properties?: object | null;
  };
  const first: unknown = Array.isArray(required) ? required[0] : undefined;
  return typeof first === "string" ? first : (Object.keys(properties ?? {})[0] ?? "input");
}

/** The JSON object a text is, if it is one. */
export function asObject(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isRecord(value) ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined; // a model's text need not be JSON; the caller goes on with the text
  }
}

/** How a model writes the calls of functions. `tags`: `<search>query</search>`, as models trained here write. */
export type ToolFormatName = CallFormatName | "tags";

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

/** The words that calls begin with, and what a call that was cut off holds so far. */
const written: Record<
  CallFormatName,
  Pick<ToolFormat, "prefix"> & { inner: (text: string, prefix: string) => string }
> = {
  hermes: {
    prefix: (name) =>
      name === undefined
        ? '<tool_call>\n{"name": "'
        : `<tool_call>\n{"name": ${JSON.stringify(name)}, "arguments": `,
    inner: (text, prefix) => afterPrefix(text.split("</tool_call>", 1)[0]!, prefix),
  },
  json: {
    prefix: (name) =>
      name === undefined ? '{"name": "' : `{"name": ${JSON.stringify(name)}, "parameters": `,
    inner: afterPrefix,
  },
  xml: {
    prefix: (name) => `<tool_call>\n<function=${name === undefined ? "" : `${name}>\n`}`,
    inner: (text, prefix) => {
      const parameter = /<parameter=([^>\n]+)>\n?([^]*?)\n?(?:<\/parameter>|<\/function>|$)/g;
      const found = [...text.slice(prefix.length).matchAll(parameter)];
      return JSON.stringify(Object.fromEntries(found.map(([, key, value]) => [key!, value!])));
    },
  },
};

/** Calls as the model's chat template shows them. */
function native(kind: CallFormatName, tools: readonly RequestTool[], single: boolean): ToolFormat {
  const known = new Set(tools.map((tool) => tool.function.name));
  const { prefix, inner } = written[kind];
  const wholeMessage = kind === "json";
  return {
    name: kind,
    markers: wholeMessage ? [] : ["<tool_call>"],
    wholeMessage,
    stops: single && !wholeMessage ? ["</tool_call>"] : [],
    prefix,
    beginnings: [],
    unfinished: (text, name) => inner(text, prefix(name)),
    parse: (text) => {
      const calls: ToolCall[] = [];
      let [content, at] = ["", 0];
      for (const { name, arguments: args, problem, from, to } of readCalls(kind, text, tools)) {
        const call = problem === undefined && known.has(name);
        content += text.slice(at, call ? from : to);
        at = call && text[to] === "\n" ? to + 1 : to;
        if (call) calls.push({ name, arguments: JSON.stringify(args) });
      }
      content += text.slice(at);
      return { content, calls };
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
  return name === "tags" ? tags(tools) : native(name, tools, single);
}
