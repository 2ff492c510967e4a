import { checkArguments } from "../arguments/check-arguments.js";
import { shown } from "../arguments/shown.js";
import { type Truncation, fitPrompt } from "../data/fit-prompt.js";
import type { ChatMessage, Tokenizer } from "../model/tokenizer/tokenizer.js";

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

/** Throws unless a task can be rolled out. */
export function checkTask(task: RolloutTask): void {
  checkArguments("roll out", { task }, { task: "object" });
  const { prompt } = task as { prompt: unknown };
  if (typeof prompt === "string") return;
  const isMessage = (m: Partial<ChatMessage> | null) =>
    typeof m?.role === "string" && typeof m.content === "string";
  if (Array.isArray(prompt) && prompt.length > 0 && prompt.every(isMessage)) return;
  throw new TypeError(
    `Cannot roll out: task.prompt must be text or a list of messages with role and content, got ${shown(prompt)}`,
  );
}

const render = (messages: readonly ChatMessage[], tokenizer: Tokenizer): string =>
  tokenizer.chat(messages, { addGenerationPrompt: true });

/** The text and tokens of a task's prompt, cut where a limit says so. */
export function promptOf(task: RolloutTask, tokenizer: Tokenizer, limit?: PromptLimit): PromptText {
  const text = typeof task.prompt === "string" ? task.prompt : render(task.prompt, tokenizer);
  const tokens = tokenizer.encode(text);
  if (!limit || tokens.length <= limit.length) return { text, tokens: Int32Array.from(tokens) };
  const cut = fitPrompt(tokens, limit.length, limit.truncation);
  return { text: tokenizer.decode(cut, { skipSpecial: false }), tokens: Int32Array.from(cut) };
}

/** The task with what its environment said behind the prompt: at the end of what the user said last. */
export function withObservation(task: RolloutTask, observation: string | undefined): RolloutTask {
  if (observation === undefined || observation === "") return task;
  const { prompt } = task;
  if (typeof prompt === "string") return { prompt: `${prompt}\n${observation}` };
  const last = prompt.findLastIndex(({ role }) => role === "user");
  if (last < 0) return { prompt: [...prompt, { role: "user", content: observation }] };
  return {
    prompt: prompt.map((message, i) =>
      i === last ? { ...message, content: `${message.content}\n${observation}` } : message,
    ),
  };
}

/** The chat that a prompt says in full; undefined for text, and where a limit cut it. */
export function chatOf(
  { prompt: chat }: RolloutTask,
  prompt: PromptText,
  tokenizer: Tokenizer,
): readonly ChatMessage[] | undefined {
  if (typeof chat === "string") return undefined;
  return render(chat, tokenizer) === prompt.text ? chat : undefined;
}
