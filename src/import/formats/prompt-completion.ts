import type { ImportedRow } from "../row/imported-row.js";
import { chatOf, isChat, type FileRecord, textOf } from "../row/fields.js";
import { splitOutput } from "../row/split-output.js";

/** A prompt column: text, or a chat. */
export function promptIn(record: FileRecord): ImportedRow["prompt"] {
  return isChat(record["prompt"]) ? chatOf(record["prompt"], "prompt") : textOf(record, "prompt");
}

/** A completion column: text, or the messages that follow the prompt. */
export function completionIn(record: FileRecord): Pick<ImportedRow, "parts" | "messages"> {
  const { completion } = record;
  if (isChat(completion)) return { parts: [], messages: chatOf(completion, "completion") };
  if (Array.isArray(completion) && completion.length === 0) return { parts: [] };
  return { parts: splitOutput(textOf(record, "completion")) };
}
