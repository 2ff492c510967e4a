import { isRecord } from "../../../common/options/is-record.js";
import { type FileRecord, numberIn } from "./fields.js";
import type { ImportedPart } from "./imported-row.js";

/** The tokens of a choice as texts, where log-probabilities were asked for. */
export function piecesOf(choice: FileRecord): Pick<ImportedPart, "pieces" | "logprobs"> {
  const logprobs = isRecord(choice["logprobs"]) ? choice["logprobs"]["content"] : undefined;
  if (!Array.isArray(logprobs) || logprobs.length === 0) return {};
  const entries = logprobs.filter(isRecord);
  return {
    pieces: entries.map((entry) => String(entry["token"])),
    logprobs: entries.map((entry) => numberIn(entry["logprob"]) ?? null),
  };
}
