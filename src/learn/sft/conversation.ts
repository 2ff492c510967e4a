import { checkArguments } from "../../../common/options/check-arguments.js";
import type { ChatMessage } from "../../model/tokenizer/tokenizer.js";
import { isResult, resultBlock } from "../../base/text/result-block.js";

/** A dialogue to imitate: everything before a model turn is its prompt. */
export interface Conversation {
  system?: string;
  /** User and assistant in turn, starting with the user. */
  turns: { role: "user" | "assistant"; text: string }[];
}

/** Which names a file gives to columns and speakers; the defaults are LLaMA-Factory's. */
export interface ConversationTags {
  messages?: string;
  system?: string;
  role?: string;
  content?: string;
  user?: string;
  assistant?: string;
  observation?: string;
  function?: string;
  systemRole?: string;
}

const sharegpt: Required<ConversationTags> = {
  messages: "conversations",
  system: "system",
  role: "from",
  content: "value",
  user: "human",
  assistant: "gpt",
  observation: "observation",
  function: "function_call",
  systemRole: "system",
};

/** Other names that public files use for the same speakers. */
const speakers: Record<string, "user" | "assistant" | "observation" | "system"> = {
  user: "user",
  human: "user",
  assistant: "assistant",
  gpt: "assistant",
  tool: "observation",
  result: "observation",
  observation: "observation",
  function_call: "assistant",
  system: "system",
};

/** Why a row is no conversation; such rows are skipped and counted. */
export class NotAConversation extends Error {}

function textOf(message: Record<string, unknown>, key: string): string {
  const value = message[key];
  if (typeof value === "string") return value;
  throw new NotAConversation(`${key} must be text, got ${JSON.stringify(value)}`);
}

/**
 * Reads one row: sharegpt as LLaMA-Factory takes it, or with other tags. With `strict` (as
 * LLaMA-Factory) turns must alternate and be even in number. Otherwise a tool's turn, or a turn in which
 * the user hands over a `<result>`, joins the assistant turns around it, as the model sees it in a
 * rollout.
 */
export function readConversation(
  row: Record<string, unknown>,
  tags: ConversationTags = {},
  { strict = false }: { strict?: boolean } = {},
): Conversation {
  checkArguments("read a conversation", { row, tags }, { row: "object", tags: "object" });
  const names = { ...sharegpt, ...tags };
  const list = row[names.messages];
  if (!Array.isArray(list) || list.length === 0) {
    throw new NotAConversation(`${names.messages} must be a list of turns`);
  }
  const own: Record<string, "user" | "assistant" | "observation" | "system"> = {
    [names.user]: "user",
    [names.assistant]: "assistant",
    [names.function]: "assistant",
    [names.observation]: "observation",
    [names.systemRole]: "system",
  };
  const given = row[names.system];
  let system = typeof given === "string" && given !== "" ? given : undefined;
  const turns: Conversation["turns"] = [];
  for (const message of list as Record<string, unknown>[]) {
    const role = textOf(message, names.role);
    const text = textOf(message, names.content);
    const speaker = own[role] ?? (strict ? undefined : speakers[role]);
    const last = turns[turns.length - 1];
    if (speaker === "system" && turns.length === 0) system = text;
    else if (speaker === "user" || speaker === "assistant" || speaker === "observation") {
      const block = !strict && speaker !== "assistant" && isResult(text);
      if (!strict && last?.role === "assistant" && (block || speaker !== "user")) {
        last.text += block || speaker === "assistant" ? text : resultBlock(text);
      } else turns.push({ role: speaker === "assistant" ? "assistant" : "user", text });
    } else throw new NotAConversation(`the speaker must be known, got ${role}`);
  }
  const alternate = turns.every(({ role }, i) => role === (i % 2 === 0 ? "user" : "assistant"));
  if (!alternate || turns.length % 2 !== 0) {
    throw new NotAConversation(
      `user and assistant must alternate and end with the assistant, got ${turns.map((t) => t.role).join(", ") || "no turn"}`,
    );
  }
  return system === undefined ? { turns } : { system, turns };
}

/** The conversation as chat messages. */
export function toMessages(conversation: Conversation): ChatMessage[] {
  const { system, turns } = conversation;
  const messages = turns.map(({ role, text }) => ({ role, content: text }));
  return system === undefined ? messages : [{ role: "system", content: system }, ...messages];
}
