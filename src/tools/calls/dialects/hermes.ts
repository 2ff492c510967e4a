import { blocks } from "../../../base/text/result-block.js";
import { begunArguments, fromJson } from "./json-call.js";
import { defineDialect } from "./definition.js";

/** `<tool_call>` around JSON. */
export const hermes = defineDialect({
  name: "hermes",
  words: "Qwen",
  shownIn: (rendered) => rendered.includes("<tool_call>") && !rendered.includes("<function="),
  read: (text) =>
    [...blocks(text, "<tool_call>", "</tool_call>")].map(({ from, to, inner }) => ({
      ...fromJson(inner.trim()),
      ...{ from, to },
    })),
  begins: { anywhere: () => ["<tool_call>"] },
  ends: () => ["</tool_call>"],
  opening: (name) =>
    name === undefined
      ? '<tool_call>\n{"name": "'
      : `<tool_call>\n{"name": ${JSON.stringify(name)}, "arguments": `,
  closing: "}\n</tool_call>",
  unfinished: (begun) => begunArguments(begun.split("</tool_call>", 1)[0]!),
});
