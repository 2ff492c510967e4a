import type { ChatMessage, Tokenizer } from "../model/tokenizer.js";

/** Something to roll out. Whatever else a task carries (its answer, its source) stays with the tree. */
export interface RolloutTask {
  /** A chat, laid out by the tokenizer's template, or text that is taken as it is. */
  readonly prompt: string | readonly ChatMessage[];
}

/** A prompt as the policy reads it. */
export interface PromptText {
  text: string;
  tokens: Int32Array;
}

/** The text and tokens of a task's prompt. */
export function promptOf(task: RolloutTask, tokenizer: Tokenizer): PromptText {
  const text =
    typeof task.prompt === "string"
      ? task.prompt
      : tokenizer.chat(task.prompt, { addGenerationPrompt: true });
  return { text, tokens: Int32Array.from(tokenizer.encode(text)) };
}
