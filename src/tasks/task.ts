import { shown } from "../../common/options/check-arguments.js";
import type { ChatMessage } from "../model/tokenizer/tokenizer.js";

/** One question to roll out on, and what its answers are judged by. */
export interface Task {
  /** Unique in its set: names random streams and groups rows. */
  id: string;
  prompt: readonly ChatMessage[];
  /** The right answer, or several of which any one will do; absent where a reward needs none. */
  groundTruth?: string | readonly string[];
  /** Chooses the reward. */
  dataSource: string;
  ability?: string | null;
  /** Whatever else the row held. */
  extra: Readonly<Record<string, unknown>>;
}

/** A task as you write it in a cell or a program: its prompt, and what it needs of the rest. */
export type TaskInput = Pick<Task, "prompt"> & Partial<Task>;

/** Fills in what a task written by hand leaves out; its id is then its place. */
export function completeTask(action: string, given: TaskInput, index: number): Task {
  const { prompt } = given as { prompt?: unknown };
  if (!Array.isArray(prompt)) {
    throw new TypeError(
      `Cannot ${action}: the prompt of task ${given.id ?? index} must be a list of messages, [{ role: "user", content: … }], got ${shown(prompt)}`,
    );
  }
  return { id: String(index), dataSource: "unknown", extra: {}, ...given };
}

/** The bare question: the last thing the user said. */
export function question(task: Task): string {
  return task.prompt.findLast((message) => message.role === "user")?.content ?? "";
}
