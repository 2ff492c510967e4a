import { checkArguments } from "../../../common/options/check-arguments.js";
import { readFile } from "#platform/files";
import { dirname, join, resolve } from "#platform/path";
import { readRows } from "../../tasks/read-rows.js";
import { nearest } from "../../../common/options/nearest.js";
import {
  type Conversation,
  type ConversationTags,
  NotAConversation,
  readConversation,
} from "./conversation.js";

/** One entry of LLaMA-Factory's `dataset_info.json`. */
interface DatasetEntry {
  file_name?: string;
  formatting?: "sharegpt" | "alpaca" | "openai";
  columns?: Record<string, string>;
  tags?: Record<string, string>;
}

/** The conversations of a data set and what was left out of it. */
export interface ConversationSet {
  conversations: Conversation[];
  /** Rows that are no conversation, by reason. */
  skipped: Record<string, number>;
}

function tagsOf({ columns = {}, tags = {}, formatting }: DatasetEntry): ConversationTags {
  const openAi = formatting === "openai";
  return {
    messages: columns["messages"] ?? (openAi ? "messages" : "conversations"),
    system: columns["system"] ?? "system",
    role: tags["role_tag"] ?? (openAi ? "role" : "from"),
    content: tags["content_tag"] ?? (openAi ? "content" : "value"),
    user: tags["user_tag"] ?? (openAi ? "user" : "human"),
    assistant: tags["assistant_tag"] ?? (openAi ? "assistant" : "gpt"),
    observation: tags["observation_tag"] ?? (openAi ? "tool" : "observation"),
    function: tags["function_tag"] ?? "function_call",
    systemRole: tags["system_tag"] ?? "system",
  };
}

/** An instruction row: `instruction`, `input`, `output`, and earlier turns in `history`. */
function readAlpaca(row: Record<string, unknown>, columns: Record<string, string>): Conversation {
  const text = (name: string, by: string) => {
    const value = row[columns[name] ?? by];
    return typeof value === "string" ? value : "";
  };
  const user = [text("prompt", "instruction"), text("query", "input")].filter(Boolean).join("\n");
  const answer = text("response", "output");
  if (user === "" || answer === "")
    throw new NotAConversation("instruction and output must be text");
  const history = row[columns["history"] ?? "history"];
  const earlier = (Array.isArray(history) ? history : []) as [string, string][];
  const turns = [...earlier, [user, answer]].flatMap(([u, a]) => [
    { role: "user" as const, text: u! },
    { role: "assistant" as const, text: a! },
  ]);
  const system = text("system", "system");
  return system === "" ? { turns } : { system, turns };
}

/** Reads rows as conversations; those that are none are skipped and counted by reason. */
function readConversations(
  rows: readonly Record<string, unknown>[],
  read: (row: Record<string, unknown>) => Conversation,
): ConversationSet {
  const set: ConversationSet = { conversations: [], skipped: {} };
  for (const row of rows) {
    try {
      set.conversations.push(read(row));
    } catch (error) {
      if (!(error instanceof NotAConversation)) throw error;
      set.skipped[error.message] = (set.skipped[error.message] ?? 0) + 1;
    }
  }
  return set;
}

/**
 * Loads a data set by name from a folder with LLaMA-Factory's `dataset_info.json`; several names are
 * joined by commas. The rules are LLaMA-Factory's: rows whose turns do not alternate are skipped.
 *
 * @param names the data set's name in `dataset_info.json`, or several joined by commas
 * @param folder the folder with `dataset_info.json`
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { mkdtemp, writeFile } from "node:fs/promises";
 * import { tmpdir } from "node:os";
 * import { join } from "node:path";
 * import { loadDataset } from "arpo-lab/learn";
 *
 * const dir = await mkdtemp(join(tmpdir(), "dataset-"));
 * const info = { toy: { file_name: "toy.jsonl", formatting: "sharegpt" } };
 * await writeFile(dir + "/dataset_info.json", JSON.stringify(info));
 * const turns = [{ from: "human", value: "hi" }, { from: "gpt", value: "hello" }];
 * await writeFile(dir + "/toy.jsonl", JSON.stringify({ conversations: turns }) + "\n");
 * assert.equal((await loadDataset("toy", dir)).conversations.length, 1);
 * ```
 */
export async function loadDataset(names: string, folder: string): Promise<ConversationSet> {
  checkArguments("load a data set", { names, folder }, { names: "text", folder: "path" });
  const path = join(folder, "dataset_info.json");
  const source = await readFile(path, "utf8").catch((error: NodeJS.ErrnoException) => {
    throw new Error(`Cannot load a data set: ${path} must be readable (${error.code})`);
  });
  const info = JSON.parse(source) as Record<string, DatasetEntry>;
  const all: ConversationSet = { conversations: [], skipped: {} };
  for (const name of names.split(",").map((n) => n.trim())) {
    const entry = info[name];
    if (!entry?.file_name) {
      const near = nearest(name, Object.keys(info));
      throw new RangeError(
        `Cannot load a data set: ${path} must have ${name} with a file_name, got ${Object.keys(info).join(", ") || "nothing"}${near ? `; did you mean ${near}?` : ""}`,
      );
    }
    const rows = await readRows(resolve(dirname(path), entry.file_name));
    const alpaca = (entry.formatting ?? "alpaca") === "alpaca";
    const tags = tagsOf(entry);
    const set = readConversations(rows, (row) =>
      alpaca ? readAlpaca(row, entry.columns ?? {}) : readConversation(row, tags, { strict: true }),
    );
    all.conversations.push(...set.conversations);
    for (const [reason, count] of Object.entries(set.skipped)) {
      all.skipped[reason] = (all.skipped[reason] ?? 0) + count;
    }
  }
  return all;
}
