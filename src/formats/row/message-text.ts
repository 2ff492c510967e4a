import { meant, plain } from "../../model/tokenizer/special-tokens.js";
import type { ChatMessage, TextPart } from "../../model/tokenizer/tokenizer.js";
import { blocks } from "../../base/text/result-block.js";
import type { ImportedPart, ToolCall } from "./imported-row.js";

interface MadeCall {
  id?: string;
  function: { name: string; arguments: unknown };
}

/** The calls of a message. */
function callsOf(message: ChatMessage): readonly MadeCall[] {
  return (message.tool_calls ?? []) as readonly MadeCall[];
}

/** A message as text: its content and its calls, in the way most open models write them. */
export function messageText(message: ChatMessage): string {
  const calls = callsOf(message).map(
    ({ function: made }) => `<tool_call>\n${JSON.stringify(made)}\n</tool_call>`,
  );
  return [...(message.content === "" ? [] : [message.content]), ...calls].join("\n");
}

/** What a tool's message answers: the call of its id, or the next one that has no answer yet. */
export class OpenCalls {
  #open: MadeCall[] = [];

  asked(message: ChatMessage): void {
    this.#open = [...callsOf(message)];
  }

  answered(message: ChatMessage): ToolCall {
    const byId = this.#open.findIndex(({ id }) => id !== undefined && id === message.tool_call_id);
    const [call] = this.#open.splice(Math.max(0, byId), 1);
    const tag = call?.function.name ?? message.name ?? message.role;
    const given = call?.function.arguments;
    const input =
      typeof given === "string" ? given : given === undefined ? "" : JSON.stringify(given);
    return { tag, input, answer: message.content };
  }
}

/** The marks that frameworks put around a tool's answer in a response that is one text. */
const resultTags = ["result", "tool_response", "information", "observation"] as const;

/** What of a chat template is left around an answer where special tokens were taken out. */
const before = /\n?(?:<\|im_end\|>\n?)?(?:<\|im_start\|>)?(?:user|tool)\n$/;
const after = /^(?:<\|im_end\|>)?\n?(?:<\|im_start\|>)?assistant\n/;

/** The call a piece of a model's text ends with, as a tag around its input. */
function callAtEnd(text: string): { tag: string; input: string } {
  const end = /<\/(\w+)>\s*(?:<\|im_end\|>\s*)?$/.exec(text);
  const tag = end?.[1];
  if (tag === undefined) return { tag: "tool", input: "" };
  const close = end!.index;
  const open = text.lastIndexOf(`<${tag}>`, close);
  const input = open < 0 ? "" : text.slice(open + tag.length + 2, close).trim();
  if (tag !== "tool_call") return { tag, input };
  try {
    const { name, arguments: given } = JSON.parse(input) as { name?: unknown; arguments?: unknown };
    return { tag: typeof name === "string" ? name : tag, input: JSON.stringify(given ?? {}) };
  } catch {
    return { tag, input };
  }
}

/**
 * A response that is one text, in parts: what stands in a block that frameworks put tools' answers in
 * was not written by the model. The file does not say so; it is read off the text.
 */
export function splitOutput(text: string): ImportedPart[] {
  const found = resultTags
    .flatMap((tag) =>
      text.includes(`</${tag}>`) ? [...blocks(text, `<${tag}>`, `</${tag}>`)] : [],
    )
    .sort((a, b) => a.from - b.from);
  const parts: ImportedPart[] = [];
  let at = 0;
  for (const block of found) {
    if (block.from < at) continue; // inside another answer
    const space = text[block.from - 1] === " " && block.from > at ? 1 : 0;
    const lead =
      before.exec(text.slice(Math.max(at, block.from - 40), block.from))?.[0].length ?? 0;
    const from = block.from - Math.max(space, lead);
    const to = block.to + (after.exec(text.slice(block.to, block.to + 60))?.[0].length ?? 0);
    const own = text.slice(at, from);
    const answer = { text: text.slice(from, to), laid: laidAnswer(text, { from, to, block }) };
    const last = parts.at(-1);
    if (own !== "") parts.push(written(own));
    if (own === "" && last?.by === "tool") {
      last.laid = [...(last.laid ?? []), ...answer.laid];
      last.text += answer.text;
    } else {
      const call = { ...callAtEnd(own), answer: block.inner.trim() };
      parts.push({ by: "tool", ...answer, call });
    }
    at = to;
  }
  if (at < text.length) parts.push(written(text.slice(at)));
  return parts;
}

/** What the model wrote in a response that is one text: its special tokens are its own. */
const written = (text: string): ImportedPart => ({ by: "model", text, laid: [meant(text)] });

/** An answer with the words around it: special tokens are meant in these words, and plain in the answer. */
function laidAnswer(
  text: string,
  place: { from: number; to: number; block: { from: number; to: number; inner: string } },
): TextPart[] {
  const { from, to, block } = place;
  const close = text.lastIndexOf("</", block.to - 1);
  const inner = close - block.inner.length;
  return [meant(text.slice(from, inner)), plain(block.inner), meant(text.slice(close, to))];
}
