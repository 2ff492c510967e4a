import { isRecord } from "../../../common/options/is-record.js";
import { defined } from "../../../common/options/defined.js";
import { type FileRecord, idsOf, numberIn, numbersPerToken } from "../row/fields.js";
import type { ImportedRow } from "../row/imported-row.js";
import { maskedParts, maskIn } from "../row/masked-parts.js";
import type { RolloutFormat } from "./format.js";

const isSequence = (value: unknown): value is FileRecord =>
  isRecord(value) && Array.isArray(value["input_ids"]) && Array.isArray(value["loss_mask"]);

function rowOf(sequence: FileRecord, shared: Partial<ImportedRow>): ImportedRow[] {
  const tokens = idsOf(sequence, "input_ids");
  const mask = maskIn(sequence, tokens.length);
  const from = mask.indexOf(true);
  if (from < 0) return [];
  const stream = (name: string) => numbersPerToken(sequence, name, tokens.length);
  const streams = defined({ logprobs: stream("logprobs"), entropies: stream("entropies") });
  const parts = maskedParts(tokens, mask, from, streams);
  return [{ ...shared, prompt: "", promptTokens: tokens.slice(0, from), parts }];
}

/** A session's record of OpenEnv's capture server, and of `arpo-lab capture`. */
export const openEnvCapture: RolloutFormat = {
  name: "openenv-capture",
  title: "sessions of OpenEnv's capture server",
  fits: ({ sequences }) => Array.isArray(sequences) && sequences.every(isSequence),
  read: (record, { step }) => {
    const { reward, group, session_id: session } = record;
    const score = numberIn(isRecord(reward) ? reward["score"] : reward);
    const name = typeof group === "string" ? group : session;
    const shared = defined({ step, score, group: typeof name === "string" ? name : undefined });
    const sequences = record["sequences"] as FileRecord[];
    return { rows: sequences.flatMap((sequence) => rowOf(sequence, shared)) };
  },
  says: {
    tokens: "ids, no text: a tokenizer makes it readable",
    "tool results": "loss_mask: what the model did not write behind the prompt",
    "log-probs": "logprobs",
    entropies: "entropies, where arpo-lab captured",
    rewards: "reward, where arpo-lab captured",
  },
};
