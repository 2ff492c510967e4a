import { defined } from "../../arguments/defined.js";
import { type FileRecord, idsOf, listOf, numberIn, numbersPerToken } from "../row/fields.js";
import type { ImportedPart, TokenNumbers } from "../row/imported-row.js";
import type { RolloutFormat } from "./format.js";

/** Numbers of a whole sequence, one for each of its tokens. */
export type Streams = Partial<Record<"logprobs" | "entropies" | "advantages", TokenNumbers>>;

/** The spans behind the prompt: what is trained on, and what is not. */
export function maskedParts(
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
export function maskIn(record: FileRecord, length: number): boolean[] {
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
