import { type Truncation, fitPrompt } from "../tasks/fit-prompt.js";
import type { ChatMessage, Tokenizer } from "../model/tokenizer/tokenizer.js";
import { encodeParts, joined } from "../model/tokenizer/special-tokens.js";
import { chatIn, promptParts, type PromptTask, rawText } from "../policy/prompt.js";

/** Something to roll out. Whatever else a task carries (its answer, its source) stays with the tree. */
export type RolloutTask = PromptTask;

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

/** A task behind whose prompt an environment has said something. */
interface SaidTask extends RolloutTask {
  /** Characters at the end of a prompt that is text which the environment said: no special token is meant there. */
  observed?: number;
}

/** The text and tokens of a task's prompt, cut where a limit says so. */
export function promptOf(
  task: SaidTask,
  tokenizer: Tokenizer,
  { limit, tools }: { limit?: PromptLimit | undefined; tools?: readonly object[] | undefined } = {},
): PromptText {
  if (tools && !chatIn(task)) {
    throw new TypeError(
      "Cannot roll out: where calls is not tags the template shows the tools, and a task must not be raw, got raw: true",
    );
  }
  const parts = promptParts(task, tokenizer, tools);
  const text = joined(parts);
  const tokens = encodeParts(tokenizer, parts);
  if (!limit || tokens.length <= limit.length) return { text, tokens: Int32Array.from(tokens) };
  const cut = fitPrompt(tokens, limit.length, limit.truncation);
  return { text: tokenizer.decode(cut, { skipSpecial: false }), tokens: Int32Array.from(cut) };
}

/** The task with what its environment said behind the prompt: at the end of what the user said last. */
export function withObservation(task: RolloutTask, observation: string | undefined): SaidTask {
  if (observation === undefined || observation === "") return task;
  const prompt = chatIn(task);
  if (!prompt) {
    return { prompt: `${rawText(task)}\n${observation}`, raw: true, observed: observation.length };
  }
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
  task: RolloutTask,
  prompt: PromptText,
  tokenizer: Tokenizer,
): readonly ChatMessage[] | undefined {
  const chat = chatIn(task);
  if (!chat) return undefined;
  return joined(promptParts({ prompt: chat }, tokenizer)) === prompt.text ? chat : undefined;
}
