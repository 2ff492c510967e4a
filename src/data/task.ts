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

/** The bare question: the last thing the user said. */
export function question(task: Task): string {
  return task.prompt.findLast((message) => message.role === "user")?.content ?? "";
}
