import { checkArguments } from "../../../common/options/check-arguments.js";
import type { ChatMessage } from "../../model/tokenizer/tokenizer.js";
import { type AuthoredText, readTranscript } from "../../base/text/authored-text.js";
import { isResult, resultBlock } from "../../base/text/result-block.js";

/** A dialogue to imitate: everything before a model turn is its prompt. */
export interface Conversation {
  system?: string;
  /** User and assistant in turn, starting with the user. */
  turns: Turn[];
}

interface Turn {
  role: "user" | "assistant";
  text: string;
  /**
   * Who wrote what in an assistant's turn: the model, or tools whose answers stand in it. Default: what stands in
   * `<result>` blocks is a tool's, the rest the model's.
   */
  parts?: readonly AuthoredText[];
}

/** Who wrote what in a turn. */
export const partsOf = ({ text, parts }: Turn): readonly AuthoredText[] =>
  parts ?? readTranscript(text);

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
 *
 * Roles say who wrote what. Only where no turn is a tool's, `<result>` blocks in an assistant's text are taken for
 * tools' answers: so files are read that keep a whole trajectory in one text.
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
  const turns: Turn[] = [];
  const written = new Map<Turn, AuthoredText[]>();
  let hasTools = false;
  const add = (turn: Turn, by: "model" | "tool", text: string) => {
    const parts = written.get(turn) ?? [];
    const last = parts.at(-1);
    if (by === "model" && last?.by === "model") parts.pop();
    parts.push({ by, text: by === "model" && last?.by === "model" ? last.text + text : text });
    written.set(turn, parts);
  };
  for (const message of list as Record<string, unknown>[]) {
    const role = textOf(message, names.role);
    const text = textOf(message, names.content);
    const speaker = own[role] ?? (strict ? undefined : speakers[role]);
    const last = turns[turns.length - 1];
    if (speaker === "system" && turns.length === 0) system = text;
    else if (speaker === "user" || speaker === "assistant" || speaker === "observation") {
      const isModel = speaker === "assistant";
      const block = !strict && !isModel && isResult(text);
      hasTools ||= speaker === "observation";
      if (!strict && last?.role === "assistant" && (block || speaker !== "user")) {
        hasTools ||= block;
        const own = block || isModel ? text : resultBlock(text);
        last.text += own;
        add(last, isModel ? "model" : "tool", own);
      } else {
        const turn: Turn = { role: isModel ? "assistant" : "user", text };
        turns.push(turn);
        if (isModel) add(turn, "model", text);
      }
    } else throw new NotAConversation(`the speaker must be known, got ${role}`);
  }
  for (const [turn, parts] of written) if (hasTools) turn.parts = parts;
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
