import { defined } from "../../../common/options/defined.js";
import { idsOf, numberIn, numbersPerToken } from "../row/fields.js";
import { maskedParts, maskIn } from "../row/masked-parts.js";
import type { RolloutFormat } from "./format.js";

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
