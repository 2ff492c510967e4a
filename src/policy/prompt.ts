import { shown } from "../../common/options/check-arguments.js";
import { chatParts, meant, plain } from "../model/tokenizer/special-tokens.js";
import type { ChatMessage, TextPart, Tokenizer } from "../model/tokenizer/tokenizer.js";

/** A prompt that is laid out already: a chat for the tokenizer's template, or text that is taken as it is. */
export interface PromptTask {
  /**
   * A chat gets the tokenizer's chat template. Text is read as it is, without the template, as base models want it:
   * for an instruct model write a chat, `[{ role: "user", content: "…" }]`.
   */
  readonly prompt: string | readonly ChatMessage[];
}

/**
 * What a policy may be asked: a question (text, which becomes the user's message), a chat, or a task,
 * whose `prompt` is a chat or text that is taken as it is.
 */
export type Prompt = string | readonly ChatMessage[] | PromptTask;

const isMessage = (value: unknown): boolean => {
  const { role, content } = (value ?? {}) as Partial<ChatMessage>;
  return typeof role === "string" && typeof content === "string";
};

/** Whether a list is one chat, not many prompts. */
export const isChat = (value: unknown): value is readonly ChatMessage[] =>
  Array.isArray(value) && value.length > 0 && value.every(isMessage);

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
  if (typeof prompt === "string" || isChat(prompt)) return given as T;
  return refuse("task.prompt must be text or a list of messages with role and content", prompt);
}

/**
 * A prompt as the policy reads it. In a chat special tokens are the template's own. Text is the caller's layout,
 * special tokens included, but for its last characters where an environment said them.
 */
export function promptParts(
  { prompt, observed = 0 }: PromptTask & { observed?: number },
  tokenizer: Pick<Tokenizer, "chat" | "chatParts">,
  tools?: readonly object[],
): readonly TextPart[] {
  if (typeof prompt !== "string") {
    return chatParts(tokenizer, prompt, { addGenerationPrompt: true, ...(tools ? { tools } : {}) });
  }
  const own = prompt.length - observed;
  return [meant(prompt.slice(0, own)), plain(prompt.slice(own))];
}
