import { defined } from "../../arguments/defined.js";
import { type FileRecord, idsOf, listOf, numberIn, numbersPerToken } from "../row/fields.js";
import type { ImportedPart } from "../row/imported-row.js";
import type { RolloutFormat } from "./format.js";

/** The stretches behind the prompt: what is trained on, and what is not. */
function partsOf(
  record: FileRecord,
  tokens: readonly number[],
  mask: readonly boolean[],
  from: number,
) {
  const stream = (name: string) => numbersPerToken(record, name, tokens.length);
  const logprobs = stream("inference_logprobs") ?? stream("trainer_logprobs");
  const entropies = stream("entropy");
  const advantages = stream("advantages");
  const parts: ImportedPart[] = [];
  for (let at = from; at < tokens.length;) {
    let to = at;
    while (to < tokens.length && mask[to] === mask[at]) to++;
    const cut = <T>(list: readonly T[] | undefined) => list?.slice(at, to);
    parts.push({
      by: mask[at] ? "model" : "tool",
      tokens: tokens.slice(at, to),
      ...(mask[at]
        ? { logprobs: cut(logprobs), entropies: cut(entropies), advantages: cut(advantages) }
        : {}),
    });
    at = to;
  }
  return parts;
}

/** prime-rl's `trainer.enable_token_export`: what the trainer saw of each token. */
export const primeTokens: RolloutFormat = {
  name: "prime-tokens",
  title: "prime-rl's token exports",
  fits: (record) => Array.isArray(record["token_ids"]) && Array.isArray(record["loss_mask"]),
  read: (record, { step: fileStep }) => {
    const tokens = idsOf(record, "token_ids");
    const mask = listOf(record, "loss_mask").map(Boolean);
    if (mask.length !== tokens.length) {
      throw new RangeError(
        `loss_mask must have an entry for each of ${tokens.length} tokens, got ${mask.length}`,
      );
    }
    const from = mask.indexOf(true);
    if (from < 0) return undefined;
    const step = numberIn(record["step"]) ?? fileStep;
    const { env_name: environment } = record;
    return {
      rows: [
        {
          prompt: "",
          promptTokens: tokens.slice(0, from),
          parts: partsOf(record, tokens, mask, from),
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
