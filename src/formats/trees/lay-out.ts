import { defined } from "../../../common/options/defined.js";
import {
  chatParts,
  joined,
  meant,
  plain,
  sliceParts,
} from "../../model/tokenizer/special-tokens.js";
import type { ChatMessage, TextPart, Tokenizer } from "../../model/tokenizer/tokenizer.js";
import type { ImportedPart, ImportedRow } from "../row/imported-row.js";
import { messageText, OpenCalls } from "../row/message-text.js";

/** A trajectory as text: what was asked, and who wrote what behind it. */
interface LaidOut {
  prompt: readonly TextPart[];
  parts: readonly ImportedPart[];
}

/** What a template says of some messages; undefined where it has no place for them. */
function rendered(
  tokenizer: Tokenizer,
  messages: readonly ChatMessage[],
  addGenerationPrompt: boolean,
): readonly TextPart[] | undefined {
  try {
    return chatParts(tokenizer, messages, { addGenerationPrompt });
  } catch {
    return undefined;
  }
}

/** A prompt in parts: text as the file lays it out. Without a template a chat stands message by message. */
function promptParts(prompt: ImportedRow["prompt"], tokenizer: Tokenizer): readonly TextPart[] {
  if (typeof prompt === "string") return [meant(prompt)];
  const told = () => prompt.map((message) => `${message.role}: ${messageText(message)}`).join("\n");
  return rendered(tokenizer, prompt, true) ?? [plain(`${told()}\nassistant: `)];
}

/** How much of what a template put behind a prompt the model wrote: up to the token that ends a turn. */
function ownLength(text: string, tokenizer: Tokenizer): number {
  const ends = tokenizer.eosIds.map((id) => tokenizer.decode([id], { skipSpecial: false }));
  const to = Math.max(
    0,
    ...ends.map((end) => text.lastIndexOf(end) + (text.includes(end) ? end.length : 0)),
  );
  return to === 0 ? text.length : to;
}

/** Whether all that a message says stands in a text: templates drop calls and thoughts they do not know. */
function tells(text: string, message: ChatMessage): boolean {
  const names = ((message.tool_calls ?? []) as { function: { name: string } }[]).map(
    (call) => call.function.name,
  );
  return [message.content.trim(), ...names].every((part) => text.includes(part));
}

/** The parts as the template writes them; undefined where it rewrites what came before, or drops something. */
function byTemplate(
  prompt: readonly ChatMessage[],
  messages: readonly ChatMessage[],
  tokenizer: Tokenizer,
): LaidOut | undefined {
  const start = rendered(tokenizer, prompt, true);
  if (start === undefined) return undefined;
  const parts: ImportedPart[] = [];
  const calls = new OpenCalls();
  const said = [...prompt];
  let text = joined(start);
  let call: ImportedPart["call"];
  for (const [i, message] of messages.entries()) {
    said.push(message);
    const next = messages[i + 1];
    const byModel = message.role === "assistant";
    if (!byModel) {
      const { answer, ...asked } = calls.answered(message);
      // Several answers in a row stand in one span, under the first one's name.
      call = call ? { ...call, answer: `${call.answer}\n${answer}` } : { ...asked, answer };
    }
    // Answers that follow each other, and the words that ask for the next turn, go together.
    if (!byModel && next && next.role !== "assistant") continue;
    const laid = rendered(tokenizer, said, !byModel && next !== undefined);
    const whole = laid && joined(laid);
    if (!laid || !whole?.startsWith(text)) return undefined;
    const added = whole.slice(text.length);
    if (!tells(added, message)) return undefined;
    const own = byModel ? ownLength(added, tokenizer) : added.length;
    parts.push({
      by: byModel ? "model" : "tool",
      text: added.slice(0, own),
      laid: sliceParts(laid, text.length, text.length + own),
      ...defined({ call }),
    });
    if (byModel) calls.asked(message);
    call = undefined;
    // What is left of a turn's end belongs to the words before the next turn.
    text = text + added.slice(0, own);
  }
  return { prompt: start, parts };
}

/** The messages one after another, as they stand. */
function asTheyStand(messages: readonly ChatMessage[]): ImportedPart[] {
  const calls = new OpenCalls();
  return messages.map((message): ImportedPart => {
    if (message.role === "assistant") {
      calls.asked(message);
      return { by: "model", text: messageText(message) };
    }
    return { by: "tool", text: `\n${messageText(message)}\n`, call: calls.answered(message) };
  });
}

/**
 * A trajectory's prompt and parts. A chat is laid out by the tokenizer's template where that keeps all
 * of it.
 */
export function layOut(row: ImportedRow, tokenizer: Tokenizer): LaidOut {
  const { prompt, messages, parts } = row;
  if (!messages) return { prompt: promptParts(prompt, tokenizer), parts };
  const chat = typeof prompt === "string" ? [] : prompt;
  const laid =
    typeof prompt === "string" && prompt !== "" ? undefined : byTemplate(chat, messages, tokenizer);
  return laid ?? { prompt: promptParts(prompt, tokenizer), parts: asTheyStand(messages) };
}
