import { blocks } from "../../../base/text/result-block.js";
import type { ArgumentSchema } from "../../json-arguments.js";
import { jsonOf } from "./json-call.js";
import { type CallableFunction, defineDialect, type WrittenCall } from "./definition.js";

/** A value as its schema wants it: in XML everything is text. */
function typed(value: string, type: string | string[] | undefined): unknown {
  const types = [type ?? "string"].flat();
  return types.includes("string") ? value : (jsonOf(value) ?? value);
}

/** `<function=name> <parameter=key> value </parameter> </function>`. */
function fromXml(text: string, tools: readonly CallableFunction[]): WrittenCall {
  const [, name, body] = /^<function=([^>\n]+)>([^]*)<\/function>$/.exec(text) ?? [];
  if (name === undefined) {
    return { name: "", arguments: {}, problem: "the call must be <function=name>…</function>" };
  }
  const parameters = tools.find((tool) => tool.function.name === name)?.function.parameters;
  const { properties = {} } = (parameters ?? {}) as ArgumentSchema;
  const found = [...body!.matchAll(/<parameter=([^<>\n]+)>\n?([^]*?)\n?(<\/parameter>|$)/g)].filter(
    ([, , , end]) => end !== "",
  );
  const read = found.map(([, key, value]) => [key!, typed(value!, properties[key!]?.type)]);
  return { name, arguments: Object.fromEntries(read) as WrittenCall["arguments"] };
}

/** `<tool_call>` around elements for the function and for each of its arguments. */
export const xml = defineDialect({
  name: "xml",
  words: "Qwen3-Coder",
  shownIn: (rendered) => rendered.includes("<tool_call>") && rendered.includes("<function="),
  read: (text, tools) =>
    [...blocks(text, "<tool_call>", "</tool_call>")].map(({ from, to, inner }) => ({
      ...fromXml(inner.trim(), tools),
      ...{ from, to },
    })),
  begins: { anywhere: () => ["<tool_call>"] },
  ends: () => ["</tool_call>"],
  opening: (name) => `<tool_call>\n<function=${name === undefined ? "" : `${name}>\n`}`,
  unfinished: (begun) => {
    const parameter = /<parameter=([^>\n]+)>\n?([^]*?)\n?(?:<\/parameter>|<\/function>|$)/g;
    const found = [...begun.matchAll(parameter)];
    return JSON.stringify(Object.fromEntries(found.map(([, key, value]) => [key!, value!])));
  },
});
