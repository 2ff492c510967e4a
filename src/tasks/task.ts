import { shown } from "../../common/options/check-arguments.js";
import type { ChatMessage } from "../model/tokenizer/tokenizer.js";
import type { PromptTask } from "../policy/prompt.js";

/** One question to roll out on, and what its answers are judged by. */
export interface Task {
  /** Unique in its set: names random streams and groups rows. */
  id: string;
  prompt: readonly ChatMessage[];
  /** Read the prompt's only message as it is, without the chat template. Default: false. */
  raw?: boolean;
  /** The right answer, or several of which any one will do; absent where a reward needs none. */
  groundTruth?: string | readonly string[];
  /** Chooses the reward. */
  dataSource: string;
  ability?: string | null;
  /** Whatever else the row held. */
  extra: Readonly<Record<string, unknown>>;
}

/** A task as you write it in a cell or a program: its prompt (a question or a chat), and what it needs of the rest. */
export type TaskInput = PromptTask & Partial<Omit<Task, "prompt">>;

/** Fills in what a task written by hand leaves out; its id is then its place. */
export function completeTask(action: string, given: TaskInput, index: number): Task {
  const { prompt } = given as { prompt?: unknown };
  if (typeof prompt !== "string" && !Array.isArray(prompt)) {
    throw new TypeError(
      `Cannot ${action}: the prompt of task ${given.id ?? index} must be text or a list of messages, [{ role: "user", content: … }], got ${shown(prompt)}`,
    );
  }
  const messages =
    typeof prompt === "string" ? [{ role: "user" as const, content: prompt }] : prompt;
  return {
    ...{ id: String(index), dataSource: "unknown", extra: {} },
    ...given,
    prompt: messages as readonly ChatMessage[],
  };
}

/** The bare question: the last thing the user said. */
export function question(task: Task): string {
  return task.prompt.findLast((message) => message.role === "user")?.content ?? "";
}
