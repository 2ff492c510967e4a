import { type Truncation, fitPrompt } from "../data/fit-prompt.js";
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

/** How long a prompt may be, and what becomes of a longer one. */
export interface PromptLimit {
  /** In tokens (`max_prompt_length`). */
  length: number;
  truncation: Truncation;
}

/** The text and tokens of a task's prompt, cut where a limit says so. */
export function promptOf(task: RolloutTask, tokenizer: Tokenizer, limit?: PromptLimit): PromptText {
  const text =
    typeof task.prompt === "string"
      ? task.prompt
      : tokenizer.chat(task.prompt, { addGenerationPrompt: true });
  const tokens = tokenizer.encode(text);
  if (!limit || tokens.length <= limit.length) return { text, tokens: Int32Array.from(tokens) };
  const cut = fitPrompt(tokens, limit.length, limit.truncation);
  return { text: tokenizer.decode(cut, { skipSpecial: false }), tokens: Int32Array.from(cut) };
}
