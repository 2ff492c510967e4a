import { blocks, resultBlock } from "../../../base/text/result-block.js";
import { asObject } from "./json-call.js";
import { type CallableFunction, defineDialect } from "./definition.js";

/** The argument that a call by tag has: the first required one of its schema, else the first. */
function onlyArgument({ function: { parameters } }: CallableFunction): string {
  const { required, properties } = (parameters ?? {}) as {
    required?: unknown;
    properties?: object | null;
  };
  const first: unknown = Array.isArray(required) ? required[0] : undefined;
  return typeof first === "string" ? first : (Object.keys(properties ?? {})[0] ?? "input");
}

/** The arguments of a call, as JSON. */
const jsonIn = (inner: string, tool: CallableFunction) =>
  asObject(inner) ? inner : JSON.stringify({ [onlyArgument(tool)]: inner.trim() });

/** `<search>query</search>`: each function is an element. No template shows it; models are trained to write it. */
export const tags = defineDialect({
  name: "tags",
  words: "models trained here",
  read: (text, tools) => {
    const [first] = tools
      .flatMap((tool) => {
        const { name } = tool.function;
        const [block] = blocks(text, `<${name}>`, `</${name}>`);
        return block ? [{ tool, block }] : [];
      })
      .sort((a, b) => a.block.from - b.block.from);
    if (!first) return [];
    const { tool, block } = first;
    const json = jsonIn(block.inner, tool);
    // What the model wrote behind its call is not looked at.
    const place = { from: block.from, to: text.length };
    return [{ name: tool.function.name, arguments: asObject(json)!, json, ...place }];
  },
  begins: { anywhere: (functions) => functions.map((name) => `<${name}>`) },
  ends: (functions) => functions.map((name) => `</${name}>`),
  isLast: true,
  opening: (name) => (name === undefined ? "" : `<${name}>`),
  unfinished: (begun, tool) => jsonIn(begun.trim(), tool),
  inText: {
    call: (name, args) => {
      const [only, ...more] = Object.values(asObject(args) ?? {});
      // A list or an object has no other text than its JSON.
      const isText = only !== undefined && more.length === 0 && typeof only !== "object";
      return `<${name}>${isText ? String(only) : args}</${name}>`;
    },
    result: resultBlock,
  },
});
