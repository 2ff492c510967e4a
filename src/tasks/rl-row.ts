import { checkArguments } from "../../common/options/check-arguments.js";
import { checkOptions, type OptionRules } from "../../common/options/check-options.js";
import { defined } from "../../common/options/defined.js";
import type { ChatMessage } from "../model/tokenizer/tokenizer.js";
import type { DataRow } from "./read-rows.js";
import type { Task } from "./task.js";

export interface RlRowOptions {
  /** The column that holds the prompt (`data.prompt_key`). Default: `prompt`. */
  promptKey?: string;
  /**
   * The column that names the data source, by which a reward is chosen (`data.reward_fn_key`).
   * Default: `data_source`.
   */
  rewardKey?: string;
  /** Fixes `\boxed` where an export turned its `\b` into a backspace character. Default: true. */
  repairBoxed?: boolean;
}

export const rlRowRules: OptionRules<RlRowOptions> = {
  promptKey: "text?",
  rewardKey: "text?",
  repairBoxed: "boolean?",
};

/** All five published RL files hold a backspace and "oxed" for `\boxed`. */
function repairBoxed(text: string): string {
  return text.replaceAll("\boxed", "\\boxed");
}

function messages(value: unknown, at: string): ChatMessage[] {
  if (typeof value === "string") return [{ role: "user", content: value }];
  const list = Array.isArray(value) ? value : undefined;
  const good = list?.every(
    (m: Partial<ChatMessage> | null) =>
      typeof m?.role === "string" && typeof m.content === "string",
  );
  if (!list || list.length === 0 || !good) {
    throw new TypeError(
      `Cannot read ${at}: the prompt must be text or a list of { role, content }, got ${JSON.stringify(value)?.slice(0, 80)}`,
    );
  }
  return list.map(({ role, content }: ChatMessage) => ({ role, content }));
}

/** GSM8K's solutions end in `#### 1,200`: the answer is what stands there, without commas. */
function solved(answer: unknown): unknown {
  const found =
    typeof answer === "string" ? /\n#### (-?[0-9.,]+)\s*$/.exec(answer)?.[1] : undefined;
  return found === undefined ? answer : found.replaceAll(",", "");
}

function truth(row: DataRow, at: string): string | string[] | undefined {
  const model = row["reward_model"] as { ground_truth?: unknown } | null | undefined;
  // The published rows nest it; a flat `answer` or `ground_truth` column is read too.
  const value = model?.ground_truth ?? row["ground_truth"] ?? solved(row["answer"]);
  if (value === undefined || value === null) return undefined;
  if (typeof value === "string" || typeof value === "number") return String(value);
  if (Array.isArray(value) && value.length > 0) return value.map(String);
  throw new TypeError(
    `Cannot read ${at}: reward_model.ground_truth must be text or a list of texts, got ${JSON.stringify(value)}`,
  );
}

/**
 * A task from a row of an RL file in the published layout (or with flat `question` and `answer`).
 *
 * @param row the row, by column
 * @param index its number, for the task's id if the row has none
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { taskFromRow } from "arpo-lab/run";
 *
 * const task = taskFromRow(
 *   {
 *     data_source: "DR_grpo_mix",
 *     prompt: [{ role: "user", content: "answer in \boxed{}: 1+1?" }],
 *     reward_model: { ground_truth: "2", style: "rule" },
 *   },
 *   0,
 * );
 * assert.equal(task.prompt[0].content, "answer in \\boxed{}: 1+1?");
 * assert.equal(task.groundTruth, "2");
 * ```
 */
export function taskFromRow(row: DataRow, index: number, options: RlRowOptions = {}): Task {
  checkArguments("read a task", { row, index }, { row: "object", index: "number" });
  checkOptions("read a task", options, rlRowRules);
  const { promptKey = "prompt", rewardKey = "data_source", repairBoxed: repair = true } = options;
  const at = `row ${index}`;
  const prompt = messages(row[promptKey] ?? row["question"] ?? row["problem"], at);
  const known = new Set([promptKey, rewardKey, "reward_model", "ability", "extra_info"]);
  const rest = Object.entries(row).filter(([key, value]) => !known.has(key) && value !== null);
  // The row's number becomes the task's id.
  const { index: number, ...info } = (row["extra_info"] ?? {}) as Record<string, unknown>;
  const dataSource = row[rewardKey];
  const groundTruth = truth(row, at);
  return {
    id: String(number ?? row["id"] ?? index),
    prompt: repair ? prompt.map((m) => ({ ...m, content: repairBoxed(m.content) })) : prompt,
    ...defined({ groundTruth }),
    dataSource: typeof dataSource === "string" ? dataSource : "unknown",
    ability: (row["ability"] as string | null | undefined) ?? null,
    extra: { ...Object.fromEntries(rest), ...info },
  };
}
