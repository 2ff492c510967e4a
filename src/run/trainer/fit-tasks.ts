import { utf8Length } from "#platform/bytes";
import type { Task } from "../../data/task.js";
import type { Tokenizer } from "../../model/tokenizer/tokenizer.js";
import type { Config } from "../config/schema.js";

/** A byte-level tokenizer never makes more tokens than bytes: short prompts need no counting. */
function promptTokens(task: Task, tokenizer: Tokenizer, enough: number): number {
  const text = tokenizer.chat(task.prompt, { addGenerationPrompt: true });
  return utf8Length(text) <= enough ? 0 : tokenizer.encode(text).length;
}

/**
 * Applies `data.filter_overlong_prompts` and the `error` of `data.truncation` to a set's tasks, before
 * the first step rather than in the middle of a run. Cutting is left to the rollout.
 */
export function fitTasks(
  tasks: readonly Task[],
  tokenizer: Tokenizer,
  config: Pick<Config, "data">,
): { tasks: readonly Task[]; dropped: number } {
  const { data } = config;
  const { max_prompt_length: most, filter_overlong_prompts: filter, truncation } = data;
  if (!filter && truncation !== "error") return { tasks, dropped: 0 };
  const lengths = tasks.map((task) => promptTokens(task, tokenizer, most));
  if (filter) {
    const kept = tasks.filter((_, i) => lengths[i]! <= most);
    if (kept.length === 0 && tasks.length > 0) {
      throw new RangeError(
        `Cannot use the tasks: a prompt must have at most ${most} tokens (data.max_prompt_length), got ${Math.min(...lengths)} or more in all ${tasks.length}`,
      );
    }
    return { tasks: kept, dropped: tasks.length - kept.length };
  }
  const long = lengths.findIndex((length) => length > most);
  if (long >= 0) {
    throw new RangeError(
      `Cannot use task ${tasks[long]!.id}: its prompt must have at most ${most} tokens (data.max_prompt_length), got ${lengths[long]}; data.filter_overlong_prompts=true leaves such tasks out, data.truncation=left, right or middle cuts them`,
    );
  }
  return { tasks, dropped: 0 };
}
