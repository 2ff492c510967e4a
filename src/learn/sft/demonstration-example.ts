import { checkArguments } from "../../arguments/check-arguments.js";
import { shown } from "../../arguments/shown.js";
import type { Demonstration } from "../../data/tasks/demonstrate.js";
import type { Tokenizer, ChatMessage } from "../../model/tokenizer/tokenizer.js";
import type { Conversation } from "./conversation.js";
import { type Example, encodeConversation } from "./encode.js";

/** A demonstration as a conversation: its task's prompt, as a rollout asks it, and one answer. */
export function exampleOf(demonstration: Demonstration, tokenizer: Tokenizer): Example {
  checkArguments(
    "encode a demonstration",
    { demonstration, tokenizer },
    { demonstration: { task: "object", segments: "list" }, tokenizer: "tokenizer" },
  );
  const { task, segments } = demonstration;
  const text = segments.map((segment) => segment.text).join("");
  const isMessage = (m: Partial<ChatMessage> | null) =>
    typeof m?.role === "string" && typeof m.content === "string";
  if (!Array.isArray(task.prompt) || task.prompt.length === 0 || !task.prompt.every(isMessage)) {
    throw new TypeError(
      `Cannot encode a demonstration: task.prompt must be a list of messages with role and content, got ${shown(task.prompt)}`,
    );
  }
  const system = task.prompt[0]!.role === "system" ? task.prompt[0]!.content : undefined;
  const asked = system === undefined ? task.prompt : task.prompt.slice(1);
  const turns: Conversation["turns"] = asked.map(({ role, content }) => {
    if (role === "user" || role === "assistant") return { role, text: content };
    throw new RangeError(
      `Cannot encode a demonstration: a prompt must be of user and assistant behind at most one system message, got ${role}`,
    );
  });
  turns.push({ role: "assistant", text });
  return encodeConversation(system === undefined ? { turns } : { system, turns }, tokenizer);
}
