import { defined } from "../../../common/options/defined.js";
import { isRecord } from "../../../common/options/is-record.js";
import type { TrajectoryEnd } from "../../rollout/tree/tree-values.js";
import { chatOf, type FileRecord, idsOf, isChat, numberIn, numbersIn, numbersPerToken, oldestOf, truthIn } from "../row/fields.js"; // prettier-ignore
import type { ImportedRow } from "../row/imported-row.js";
import { maskedParts, maskIn } from "../row/masked-parts.js";
import type { RolloutFormat } from "./format.js";

const ends: Readonly<Record<string, TrajectoryEnd>> = { completed: "answer", truncated: "length" };

const isSample = (value: unknown): boolean =>
  isRecord(value) && Array.isArray(value["tokens"]) && typeof value["response_length"] === "number";

function rowOf(sample: FileRecord, step: number | undefined): ImportedRow {
  const tokens = idsOf(sample, "tokens");
  const length = sample["response_length"] as number;
  const from = tokens.length - length;
  if (!Number.isInteger(length) || length < 0 || from < 0) {
    throw new RangeError(`response_length must be 0 to ${tokens.length}, got ${length}`);
  }
  const own = Array.isArray(sample["loss_mask"])
    ? maskIn(sample, length)
    : Array.from({ length }, () => true);
  const logprobs = numbersPerToken(sample, "rollout_log_probs", length);
  const parts = maskedParts(tokens.slice(from), own, 0, defined({ logprobs }));
  // Where the model wrote all of it, the text is known without a tokenizer.
  if (parts.length === 1 && parts[0]!.by === "model" && typeof sample["response"] === "string")
    parts[0]!.text = sample["response"];
  const { prompt, reward, group_index: group } = sample;
  const numbers = isRecord(reward) ? numbersIn(reward) : {};
  const score = numberIn(isRecord(reward) ? (reward["score"] ?? reward["reward"]) : reward);
  const end = ends[String(sample["status"])];
  const versions = sample["weight_versions"];
  const version = Array.isArray(versions) ? oldestOf(versions) : undefined;
  return {
    prompt: isChat(prompt) ? chatOf(prompt, "prompt") : typeof prompt === "string" ? prompt : "",
    promptTokens: tokens.slice(0, from),
    parts,
    ...(typeof group === "number" ? { group: String(group) } : {}),
    ...defined({ step, score, end, groundTruth: truthIn(sample["label"]), version }),
    numbers,
  };
}

/** slime's debug rollouts as JSON: its own files are pickles, which are never read. */
export const slime: RolloutFormat = {
  name: "slime",
  title: "slime's samples as JSON",
  fits: (record) =>
    isSample(record) || (Array.isArray(record["samples"]) && record["samples"].every(isSample)),
  read: (record, { step: fileStep }) => {
    const samples = isSample(record) ? [record] : (record["samples"] as FileRecord[]);
    const step = numberIn(record["rollout_id"]) ?? fileStep;
    return { rows: samples.map((sample) => rowOf(sample, step)) };
  },
  says: {
    tokens: "tokens, of which the last response_length are the response's",
    "tool results": "loss_mask: what is not trained on",
    "log-probs": "rollout_log_probs",
    rewards: "reward",
    "ground truth": "label",
    steps: "rollout_id",
    "how trajectories ended": "status",
  },
};
