import { defined } from "../../../common/options/defined.js";
import { isRecord } from "../../../common/options/is-record.js";
import { type FileRecord, idsOf, listOf, numberIn, numbersPerToken } from "../row/fields.js";
import type { ImportedPart, ImportedRow, TokenNumbers } from "../row/imported-row.js";
import type { RolloutFormat } from "./format.js";

/** Numbers of a whole sequence, one for each of its tokens. */
type Streams = Partial<Record<"logprobs" | "entropies" | "advantages", TokenNumbers>>;

/** The spans behind the prompt: what is trained on, and what is not. */
function maskedParts(
  tokens: readonly number[],
  mask: readonly boolean[],
  from: number,
  streams: Streams,
): ImportedPart[] {
  const parts: ImportedPart[] = [];
  for (let at = from; at < tokens.length;) {
    let to = at;
    while (to < tokens.length && mask[to] === mask[at]) to++;
    const cut = Object.entries(streams).map(([name, list]) => [name, list.slice(at, to)]);
    parts.push({
      by: mask[at] ? "model" : "tool",
      tokens: tokens.slice(at, to),
      ...(mask[at] ? (Object.fromEntries(cut) as Streams) : {}),
    });
    at = to;
  }
  return parts;
}

/** Which tokens are trained on, one entry for each. */
function maskIn(record: FileRecord, length: number): boolean[] {
  const mask = listOf(record, "loss_mask").map(Boolean);
  if (mask.length === length) return mask;
  throw new RangeError(
    `loss_mask must have an entry for each of ${length} tokens, got ${mask.length}`,
  );
}

/** prime-rl's `trainer.enable_token_export`: what the trainer saw of each token. */
export const primeTokens: RolloutFormat = {
  name: "prime-tokens",
  title: "prime-rl's token exports",
  fits: (record) => Array.isArray(record["token_ids"]) && Array.isArray(record["loss_mask"]),
  read: (record, { step: fileStep }) => {
    const tokens = idsOf(record, "token_ids");
    const mask = maskIn(record, tokens.length);
    const from = mask.indexOf(true);
    if (from < 0) return undefined;
    const step = numberIn(record["step"]) ?? fileStep;
    const stream = (name: string) => numbersPerToken(record, name, tokens.length);
    const { env_name: environment } = record;
    return {
      rows: [
        {
          prompt: "",
          promptTokens: tokens.slice(0, from),
          parts: maskedParts(
            tokens,
            mask,
            from,
            defined({
              logprobs: stream("inference_logprobs") ?? stream("trainer_logprobs"),
              entropies: stream("entropy"),
              advantages: stream("advantages"),
            }),
          ),
          ...(typeof environment === "string" ? { group: environment } : {}),
          ...defined({ step }),
        },
      ],
    };
  },
  says: {
    tokens: "ids, no text: a tokenizer makes it readable",
    "tool results": "loss_mask: what is not trained on behind the prompt",
    "log-probs": "inference_logprobs",
    entropies: "entropy, the trainer's",
    advantages: "advantages, one per token",
    steps: "step",
  },
};

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
