import { isRecord } from "../../../common/options/is-record.js";
import { defined } from "../../../common/options/defined.js";

type Fields = Readonly<Record<string, unknown>>;

// Messages whose content is a list of blocks, and lists of items instead of messages. Anthropic's Messages, OpenAI's
// Responses, Pi's sessions and OpenTelemetry's spans name the same five things in other words.

/** What a block is. */
type Block =
  | { is: "text"; text: string }
  | { is: "thought"; text: string }
  | { is: "call"; call: Fields }
  | { is: "result"; id: string | undefined; text: string };

const textIn = (value: unknown): string | undefined =>
  typeof value === "string" ? value : undefined;

/** A text, or the texts of a list of parts. */
function textsOf(value: unknown): string {
  if (typeof value === "string") return value;
  if (value === undefined || value === null) return "";
  if (!Array.isArray(value)) return JSON.stringify(value);
  return value
    .map((part: unknown) => {
      if (typeof part === "string" || !isRecord(part)) return textIn(part) ?? "";
      const { type } = part;
      return (
        textIn(part["text"] ?? part["content"]) ?? (typeof type === "string" ? `[${type}]` : "")
      );
    })
    .join("");
}

const callOf = (block: Fields, id: unknown, given: unknown): Block => ({
  is: "call",
  call: { ...defined({ id: textIn(id) }), name: block["name"], arguments: given ?? {} },
});

/** How a block is read, by its type. */
const readers: Readonly<Record<string, (block: Fields) => Block>> = {
  tool_use: (block) => callOf(block, block["id"], block["input"]),
  toolCall: (block) => callOf(block, block["id"], block["arguments"]),
  tool_call: (block) => callOf(block, block["id"], block["arguments"]),
  function_call: (block) => callOf(block, block["call_id"] ?? block["id"], block["arguments"]),
  tool_result: ({ tool_use_id: id, content }) => resultOf(id, content),
  tool_call_response: ({ id, result, response }) => resultOf(id, result ?? response),
  function_call_output: ({ call_id: id, output }) => resultOf(id, output),
  thinking: ({ thinking }) => ({ is: "thought", text: textsOf(thinking) }),
  reasoning: ({ content, text, reasoning, summary }) => ({
    is: "thought",
    text: textsOf(content ?? text ?? reasoning ?? summary),
  }),
  redacted_thinking: () => ({ is: "thought", text: "" }),
};

const resultOf = (id: unknown, content: unknown): Block => ({
  is: "result",
  id: textIn(id),
  text: textsOf(content),
});

const blockOf = (value: unknown): Block => {
  const type = isRecord(value) ? textIn(value["type"]) : undefined;
  const read = type !== undefined && Object.hasOwn(readers, type) ? readers[type] : undefined;
  return read?.(value as Fields) ?? { is: "text", text: textsOf([value]) };
};

/** Messages of chat templates that say what a message of blocks does: a result becomes one of a tool. */
export function withoutBlocks(message: Fields): Fields[] {
  const content = message["content"] ?? message["parts"];
  if (!Array.isArray(content)) return [message];
  const blocks = content.map(blockOf);
  const of = (is: Block["is"]) => blocks.filter((block) => block.is === is);
  const joined = (is: "text" | "thought") =>
    of(is)
      .map((block) => (block as { text: string }).text)
      .join("");
  const results = of("result").map((block) => {
    const { id, text } = block as Extract<Block, { is: "result" }>;
    return { role: "tool", content: text, ...defined({ tool_call_id: id }) };
  });
  const calls = of("call").map((block) => (block as Extract<Block, { is: "call" }>).call);
  const [text, thought] = [joined("text"), joined("thought")];
  if (results.length > 0 && text === "" && calls.length === 0) return results;
  const rest = Object.entries(message).filter(([name]) => name !== "parts");
  const own = {
    ...Object.fromEntries(rest),
    content: text,
    ...(thought === "" ? {} : { reasoning_content: thought }),
    ...(calls.length === 0 ? {} : { tool_calls: calls }),
  };
  return [...results, own];
}

/** The items of OpenAI's Responses as messages: what the model did in a row is one of its messages. */
export function messagesOfItems(items: unknown): Fields[] {
  if (typeof items === "string") return [{ role: "user", content: items }];
  if (!Array.isArray(items)) throw new TypeError("input must be text or a list of items");
  const messages: Fields[] = [];
  for (const item of items.filter(isRecord)) {
    const role = textIn(item["role"]);
    const parts = role === undefined ? [item] : [item["content"]].flat();
    const by = role ?? (blockOf(item).is === "result" ? "tool" : "assistant");
    const last = messages.at(-1);
    if (by === "assistant" && last?.["role"] === by) (last["content"] as unknown[]).push(...parts);
    else messages.push({ role: by, content: parts });
  }
  return messages;
}
