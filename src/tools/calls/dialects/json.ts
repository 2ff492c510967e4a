import { asObject, begunArguments, fromJson } from "./json-call.js";
import { defineDialect } from "./definition.js";

/** The whole message is one call as JSON, or it is an answer. */
export const json = defineDialect({
  name: "json",
  words: "Llama 3.1",
  shownIn: (rendered) => !rendered.includes("<tool_call>"),
  read: (text) => {
    const message = text.replace(/^\s*<\|python_tag\|>/, "").trim();
    const value = message.startsWith("{") ? asObject(message) : undefined;
    if (typeof value?.["name"] !== "string") return [];
    return [{ ...fromJson(message), from: 0, to: text.length }];
  },
  begins: { message: "{" },
  ends: () => [],
  opening: (name) =>
    name === undefined ? '{"name": "' : `{"name": ${JSON.stringify(name)}, "parameters": `,
  closing: "}",
  unfinished: begunArguments,
});
