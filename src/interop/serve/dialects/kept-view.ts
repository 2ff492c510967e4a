import type { ChatView } from "../answer-chat.js";
import type { KeptAnswer } from "../kept/answer-store.js";
import type { PartReader } from "../kept/part-reader.js";

/** What an answer that is kept by its parts does with its pieces and at its end. */
export const keptView = (
  reader: PartReader,
  prompt: readonly number[],
  keep: (answer: Pick<KeptAnswer, "turn" | "prompt" | "tokens">) => void,
): Pick<ChatView, "piece" | "ended"> => ({
  piece: (_, said, tokens) => reader.push(said, tokens.length),
  ended: (_, { rest, calls, segment, told }) => {
    reader.push(rest, segment.tokens.length - told);
    reader.end(calls);
    const { parts } = reader;
    keep({ turn: { parts }, prompt: Int32Array.from(prompt), tokens: segment.tokens.slice() });
  },
});
