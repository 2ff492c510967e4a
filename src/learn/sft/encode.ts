import type { AuthoredText } from "../../base/text/authored-text.js";
import { checkArguments, shown } from "../../../common/options/check-arguments.js";
import { checkOptions, integerOrAll } from "../../../common/options/check-options.js";
import type { Demonstration } from "../../tasks/tasks/demonstrate.js";
import type { ChatMessage, Tokenizer } from "../../model/tokenizer/tokenizer.js";
import {
  chatParts,
  encodeParts,
  encodePlain,
  joined,
  meant,
  plain,
  sliceParts,
} from "../../model/tokenizer/special-tokens.js";
import { trainedOnTags } from "../../model/tokenizer/hf-tokenizer.js";
import { isChat, promptParts, type PromptTask, promptTask } from "../../policy/prompt.js";
import { resultMarks } from "../../base/text/result-block.js";
import { type Conversation, partsOf, toMessages } from "./conversation.js";

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

/** A tool's answer: the marks around it are the rollout's own words, what is between them is plain text. */
function encodeAnswer(text: string, tokenizer: Tokenizer): number[] {
  const { open, close } = resultMarks;
  const from = text.trimStart().startsWith(open) ? text.indexOf(open) + open.length : 0;
  const to = text.trimEnd().endsWith(close) ? text.lastIndexOf(close) : text.length;
  const inner = Math.max(from, to);
  return encodeParts(tokenizer, [
    meant(text.slice(0, from)),
    plain(text.slice(from, inner)),
    meant(text.slice(inner)),
  ]);
}

/** An example that grows: by tokens, and by turns of the assistant with who wrote what in them. */
function encoder(
  tokenizer: Tokenizer,
  how: Required<Pick<EncodeOptions, "maskResults" | "learnEnd">>,
) {
  const example: Example = { ids: [], labels: [] };
  const add = (tokens: readonly number[], learn: boolean) => {
    for (const id of tokens) {
      example.ids.push(id);
      example.labels.push(learn ? id : ignored);
    }
  };
  const addTurn = (parts: readonly AuthoredText[]) => {
    for (const { by, text } of parts) {
      if (by === "model") add(encodePlain(tokenizer, text), true);
      else add(encodeAnswer(text, tokenizer), !how.maskResults);
    }
    add([tokenizer.eosId], how.learnEnd);
  };
  return { example, add, addTurn };
}

/**
 * Turns a conversation into tokens and labels through the tokenizer's chat template. Labels stand only
 * on what the model writes: its turns, their end token, and, if told so, tools' answers in them. Special tokens that
 * a turn's text holds are plain text.
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
    { conversation, tokenizer },
    { conversation: { turns: "list" }, tokenizer: "tokenizer" },
  );
  checkOptions("encode a conversation", options, {
    maskResults: "boolean?",
    learnEnd: "boolean?",
    cutoff: integerOrAll(1),
  });
  const { maskResults = true, learnEnd = true, cutoff = Infinity } = options;
  const messages: ChatMessage[] = toMessages(conversation);
  const { example, add, addTurn } = encoder(tokenizer, { maskResults, learnEnd });
  const { ids, labels } = example;
  let written = "";
  const before = messages.length - conversation.turns.length;
  messages.forEach((message, i) => {
    if (message.role !== "assistant") return;
    const laid = chatParts(tokenizer, messages.slice(0, i), { addGenerationPrompt: true });
    const prompt = joined(laid);
    if (!prompt.startsWith(written)) {
      throw new RangeError(
        "Cannot encode a conversation: the chat template must write earlier turns the same way every time, got another prefix",
      );
    }
    add(encodeParts(tokenizer, sliceParts(laid, written.length)), false);
    addTurn(partsOf(conversation.turns[i - before]!));
    // What the template writes behind the end token belongs to the next prompt.
    const eos = tokenizer.decode([tokenizer.eosId], { skipSpecial: false });
    written = prompt + message.content + eos;
  });
  if (ids.length > cutoff) {
    ids.length = cutoff;
    labels.length = cutoff;
  }
  return example;
}

/** A prompt and what is to be answered, as other libraries' data sets have them. */
export interface Completion extends PromptTask {
  readonly completion: string | readonly ChatMessage[];
}

/** A prompt, laid out as a rollout lays it out, and the answer to learn: text, or one message of the assistant. */
export function exampleOfCompletion(given: Completion, tokenizer: Tokenizer): Example {
  const { completion } = given;
  const [said, ...rest] =
    typeof completion === "string" ? [] : isChat(completion) ? completion : [];
  const text = typeof completion === "string" ? completion : said?.content;
  if (text === undefined || rest.length > 0 || (said && said.role !== "assistant")) {
    throw new TypeError(
      `completion must be text or one message of the assistant, got ${rest.length > 0 ? `${rest.length + 1} messages` : shown(completion)}; a whole chat is { messages }`,
    );
  }
  const { example, add, addTurn } = encoder(tokenizer, { maskResults: true, learnEnd: true });
  const task = promptTask("fine-tune", given) as PromptTask;
  add(encodeParts(tokenizer, promptParts(task, tokenizer)), false);
  addTurn(partsOf({ role: "assistant", text }));
  return example;
}

/**
 * Joins examples into rows of at most `cutoff` tokens, longest first into the fullest row that still has
 * room. As in LLaMA-Factory's `packing`, an example can look back at those before it in its row; its
 * first token is not predicted from them.
 */
export function pack(examples: readonly Example[], cutoff: number): Example[] {
  const longest = [...examples].sort((a, b) => b.ids.length - a.ids.length);
  const rows: Example[] = [];
  for (const { ids, labels } of longest) {
    let best: Example | undefined;
    for (const row of rows) {
      const fits = row.ids.length + ids.length <= cutoff;
      if (fits && (!best || row.ids.length > best.ids.length)) best = row;
    }
    if (best) {
      best.ids.push(...ids);
      best.labels.push(-100, ...labels.slice(1));
    } else rows.push({ ids: [...ids], labels: [...labels] });
  }
  return rows;
}

/** A demonstration as a conversation: its task's prompt, as a rollout asks it, and one answer. */
export function exampleOf(demonstration: Demonstration, tokenizer: Tokenizer): Example {
  checkArguments(
    "encode a demonstration",
    { demonstration, tokenizer },
    { demonstration: { task: "object", segments: "list" }, tokenizer: "tokenizer" },
  );
  const { task, segments } = demonstration;
  const parts = segments.map(({ kind, text }): AuthoredText => {
    return { by: kind === "model" ? "model" : "tool", text };
  });
  const isMessage = (m: Partial<ChatMessage> | null) =>
    typeof m?.role === "string" && typeof m.content === "string";
  if (!Array.isArray(task.prompt) || task.prompt.length === 0 || !task.prompt.every(isMessage)) {
    throw new TypeError(
      `Cannot encode a demonstration: task.prompt must be a list of messages with role and content, got ${shown(task.prompt)}`,
    );
  }
  if (task.raw) {
    const { example, add, addTurn } = encoder(tokenizer, { maskResults: true, learnEnd: true });
    add(encodeParts(tokenizer, promptParts(task, tokenizer)), false);
    addTurn(parts);
    return example;
  }
  const system = task.prompt[0]!.role === "system" ? task.prompt[0]!.content : undefined;
  const asked = system === undefined ? task.prompt : task.prompt.slice(1);
  const turns: Conversation["turns"] = asked.map(({ role, content }) => {
    if (role === "user" || role === "assistant") return { role, text: content };
    throw new RangeError(
      `Cannot encode a demonstration: a prompt must be of user and assistant behind at most one system message, got ${role}`,
    );
  });
  turns.push({ role: "assistant", text: parts.map(({ text }) => text).join(""), parts });
  return encodeConversation(system === undefined ? { turns } : { system, turns }, tokenizer);
}

/** A model that has learned to call by tags needs no description of its tools afterwards: its tokenizer says so. */
export function noteTags(examples: readonly Example[], tokenizer: Tokenizer): void {
  if (tokenizer.knowsTags !== false) return;
  const shows = ({ ids }: Example) =>
    ids.every((id) => id < tokenizer.vocabSize) && tokenizer.decode(ids).includes(resultMarks.open);
  if (examples.some(shows)) trainedOnTags(tokenizer);
}
