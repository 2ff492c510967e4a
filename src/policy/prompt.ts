import { shown } from "../../common/options/check-arguments.js";
import { chatParts, meant, plain } from "../model/tokenizer/special-tokens.js";
import type { ChatMessage, TextPart, Tokenizer } from "../model/tokenizer/tokenizer.js";

/** A question or a chat, for the tokenizer's chat template; or, with `raw`, text that is read as it is. */
export interface PromptTask {
  /** A question (text, which becomes the user's message) or a chat: either gets the tokenizer's chat template. */
  readonly prompt: string | readonly ChatMessage[];
  /** Read the text as it is, without the chat template, as base models want it. Default: false. */
  readonly raw?: boolean;
}

/** What a policy may be asked: a question (text), a chat, or a task that has either as its `prompt`. */
export type Prompt = string | readonly ChatMessage[] | PromptTask;

const isMessage = (value: unknown): boolean => {
  const { role, content } = (value ?? {}) as Partial<ChatMessage>;
  return typeof role === "string" && typeof content === "string";
};

/** Whether a list is one chat, not many prompts. */
export const isChat = (value: unknown): value is readonly ChatMessage[] =>
  Array.isArray(value) && value.length > 0 && value.every(isMessage);

/** The chat that a prompt is; undefined where it is text that is read as it is. */
export function chatIn({ prompt, raw = false }: PromptTask): readonly ChatMessage[] | undefined {
  if (raw) return undefined;
  return typeof prompt === "string" ? [{ role: "user", content: prompt }] : prompt;
}

/** The text of a prompt that is read as it is; a task of a training set has it as its only message. */
export const rawText = ({ prompt }: PromptTask): string =>
  typeof prompt === "string" ? prompt : prompt[0]!.content;

/** What a prompt stands for, as a task; a task is itself. */
export function promptTask<T extends PromptTask>(
  action: string,
  given: Prompt | T,
): PromptTask | T {
  if (typeof given === "string") return { prompt: [{ role: "user", content: given }] };
  if (isChat(given)) return { prompt: given };
  const refuse = (must: string, value: unknown): never => {
    throw new TypeError(`Cannot ${action}: ${must}, got ${shown(value)}`);
  };
  const noun = action === "generate" ? "prompt" : "task";
  if (Array.isArray(given)) {
    return refuse("a chat must be a list of messages with role and content", given);
  }
  if (typeof given === "function") {
    return refuse(`the ${noun} must be a value; call the function that makes it first`, given);
  }
  if (typeof given !== "object" || given === null) {
    return refuse(`the ${noun} must be a question (text), a chat or { prompt }`, given);
  }
  const { prompt, train } = given as { prompt?: unknown; train?: unknown };
  if (prompt === undefined && Array.isArray(train)) {
    return refuse(
      "the task must be one task or a list of tasks; choose from the set's train or test",
      given,
    );
  }
  const { raw } = given as { raw?: unknown };
  if (raw !== undefined && typeof raw !== "boolean")
    return refuse("raw must be true or false", raw);
  if (raw === true && isChat(prompt) && prompt.length > 1) {
    return refuse("task.prompt must be text where raw is true", prompt);
  }
  if (typeof prompt === "string" || isChat(prompt)) return given as T;
  return refuse("task.prompt must be text or a list of messages with role and content", prompt);
}

/**
 * A prompt as the policy reads it. In a chat special tokens are the template's own. Text is the caller's layout,
 * special tokens included, but for its last characters where an environment said them.
 */
export function promptParts(
  task: PromptTask & { observed?: number },
  tokenizer: Pick<Tokenizer, "chat" | "chatParts">,
  tools?: readonly object[],
): readonly TextPart[] {
  const chat = chatIn(task);
  if (chat) {
    return chatParts(tokenizer, chat, { addGenerationPrompt: true, ...(tools ? { tools } : {}) });
  }
  const text = rawText(task);
  const own = text.length - (task.observed ?? 0);
  return [meant(text.slice(0, own)), plain(text.slice(own))];
}
