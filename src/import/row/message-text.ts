import type { ChatMessage } from "../../model/tokenizer/tokenizer.js";
import type { ToolCall } from "./imported-row.js";

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
