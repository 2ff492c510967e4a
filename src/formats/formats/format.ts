import type { RolloutTree } from "../../rollout/rollout-tree.js";
import { chatOf, type FileRecord, isChat, textOf } from "../row/fields.js";
import type { ImportedRow, Understood } from "../row/imported-row.js";
import { splitOutput } from "../row/message-text.js";

/** What a reader may want to know of a rollout, and a file may not carry. */
export const quantities = [
  "tokens",
  "parents",
  "tool results",
  "log-probs",
  "entropies",
  "rewards",
  "advantages",
  "ground truth",
  "steps",
  "how trajectories ended",
] as const;

/** One of them. */
export type Quantity = (typeof quantities)[number];

/** What a format needs besides the record. */
interface ReadContext {
  /** The step that the file's place names: `12.jsonl`, `global_step_12`. */
  step?: number;
  /** The columns whose sum is the score, where the reader said so. */
  scoreColumns?: readonly string[];
  /** What is known of rollouts besides their records. */
  notes?: FormatNotes;
  /** The line as it stands in the file. */
  text?: string;
}

/** Facts about rollouts that stand in records of their own. */
export interface FormatNotes {
  /** Takes a record in, if it is one of these. */
  add: (record: FileRecord) => boolean;
  /** A rollout with what is known of it. */
  of: (rollout: FileRecord) => FileRecord;
}

/** What is read of several records of a file together. */
export interface RecordsTogether {
  /** Takes a record in; what those before it said, where another rollout begins with it. */
  add: (record: FileRecord) => Understood | undefined;
  /** The file has ended. */
  end: () => Understood | undefined;
}

/** A kind of file that rollouts are kept in. Pure: it sees records, not files. */
export interface RolloutFormat {
  name: string;
  /** Who writes it. */
  title: string;
  /** Whether a record is of this kind. */
  fits: (record: FileRecord) => boolean;
  /**
   * What a record says; nothing where it is about something else. Throws, in the words `FIELD must be
   * …, got …`, where it is of this kind and broken.
   */
  read: (record: FileRecord, context: ReadContext) => Understood | undefined;
  /** Instead of `read`, where a record alone says nothing: opened anew for each file. */
  together?: (context: ReadContext) => RecordsTogether;
  /** The records that are read together. Default: all. */
  joins?: (record: FileRecord) => boolean;
  /** Where each quantity stands in such a file, in words. */
  says: Readonly<Partial<Record<Quantity, string>>>;
  /** Parquet tables of which a row alone says nothing: the columns they have, and how they are read. */
  table?: {
    columns: readonly string[];
    read: (bytes: ArrayBuffer) => Promise<readonly RolloutTree[]>;
  };
  /** Zip archives of JSON: those of their files that are records. */
  archived?: RegExp;
  /** What is written about rollouts after their records, and the folder beside them that it stands in. */
  notes?: { folder: string; open: () => FormatNotes };
}

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
