import { checkArguments } from "../../arguments/check-arguments.js";
import { resultBlocks } from "../../text/result-block.js";
import type { ChatMessage, Tokenizer } from "../../model/tokenizer/tokenizer.js";
import { type Conversation, toMessages } from "./conversation.js";

/**
 * Not trained on; PyTorch's ignore index, which files and figures know.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { encodeConversation, ignored } from "arpo-lab/experimental/learn";
 * import { CodePointTokenizer } from "arpo-lab/experimental/testing";
 *
 * const turns = [{ role: "user" as const, text: "hi" }, { role: "assistant" as const, text: "yes" }];
 * const { labels } = encodeConversation({ turns }, new CodePointTokenizer());
 * assert.equal(labels.filter((label) => label !== ignored).length, 4); // y, e, s and the end
 * ```
 */
export const ignored = -100;

/** Tokens and, for each, the label to learn: itself, or `ignored`. */
export interface Example {
  ids: number[];
  labels: number[];
}

export interface EncodeOptions {
  /** Leave result blocks out of the loss: the model does not write them. Default: true. */
  maskResults?: boolean;
  /** Learn the end token too. Default: true. */
  learnEnd?: boolean;
  /** Longest example; the prompt keeps its place and the rest is cut at the end. */
  cutoff?: number;
}

/** A model's text cut at its result blocks, which a rollout tokenises on their own. */
function pieces(text: string): { text: string; result: boolean }[] {
  const out: { text: string; result: boolean }[] = [];
  let from = 0;
  for (const block of resultBlocks(text)) {
    if (block.from > from) out.push({ text: text.slice(from, block.from), result: false });
    out.push({ text: text.slice(block.from, block.to), result: true });
    from = block.to;
  }
  if (from < text.length) out.push({ text: text.slice(from), result: false });
  return out;
}

/**
 * Turns a conversation into tokens and labels through the tokenizer's chat template. Labels stand only
 * on what the model writes: its turns, their end token, and, if told so, the result blocks in them.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { encodeConversation, ignored } from "arpo-lab/experimental/learn";
 * import { HfTokenizer } from "arpo-lab/model";
 * import { trainBpe } from "arpo-lab/experimental/formats";
 *
 * const tokenizer = new HfTokenizer(trainBpe(["hello"], { vocabSize: 300 }));
 * const turns = [
 *   { role: "user" as const, text: "hi" },
 *   { role: "assistant" as const, text: "a <result>\nb\n</result>c" },
 * ];
 * const { ids, labels } = encodeConversation({ turns }, tokenizer);
 * assert.equal(tokenizer.decode(ids.filter((_, i) => labels[i] !== ignored)), "ac<|im_end|>");
 * ```
 */
export function encodeConversation(
  conversation: Conversation,
  tokenizer: Tokenizer,
  options: EncodeOptions = {},
): Example {
  checkArguments(
    "encode a conversation",
    { conversation, tokenizer, options },
    { conversation: { turns: "list" }, tokenizer: "tokenizer", options: "object" },
  );
  const { maskResults = true, learnEnd = true, cutoff = Infinity } = options;
  const messages: ChatMessage[] = toMessages(conversation);
  const ids: number[] = [];
  const labels: number[] = [];
  const add = (tokens: readonly number[], learn: boolean) => {
    for (const id of tokens) {
      ids.push(id);
      labels.push(learn ? id : ignored);
    }
  };
  let written = "";
  messages.forEach((message, i) => {
    if (message.role !== "assistant") return;
    const prompt = tokenizer.chat(messages.slice(0, i), { addGenerationPrompt: true });
    if (!prompt.startsWith(written)) {
      throw new RangeError(
        "Cannot encode a conversation: the chat template must write earlier turns the same way every time, got another prefix",
      );
    }
    add(tokenizer.encode(prompt.slice(written.length)), false);
    for (const { text, result } of pieces(message.content)) {
      add(tokenizer.encode(text), !(result && maskResults));
    }
    add([tokenizer.eosId], learnEnd);
    // What the template writes behind the end token belongs to the next prompt.
    const eos = tokenizer.decode([tokenizer.eosId], { skipSpecial: false });
    written = prompt + message.content + eos;
  });
  if (ids.length > cutoff) {
    ids.length = cutoff;
    labels.length = cutoff;
  }
  return { ids, labels };
}
