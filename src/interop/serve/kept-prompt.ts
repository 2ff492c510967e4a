import { joined, sliceParts } from "../../model/tokenizer/special-tokens.js";
import type { Handling } from "./handler.js";
import { refuseLongText } from "./refuse-oversized.js";
import type { ChatBody, RequestMessage } from "./schema/common.js";
import { type ChatPrompt, chatPrompt } from "./tools/chat-prompt.js";
import type { AnswerStore, KeptAnswer } from "./kept/answer-store.js";
import { type Entry, isTurn, messageOf } from "./kept/conversation.js";
import { randomUUID } from "node:crypto";

/** A message of a chat that may be an answer of ours. */
export interface KeptTurn {
  at: number;
  alike: readonly { answer: KeptAnswer; named: boolean }[];
}

/** The messages of a conversation, and those of them that may be answers of ours. */
export function chatOf(
  entries: readonly Entry[],
  answers: AnswerStore,
): { messages: RequestMessage[]; kept: KeptTurn[] } {
  const kept = entries.flatMap((entry, at) => {
    const alike = isTurn(entry) ? answers.like(entry) : [];
    return alike.length === 0 ? [] : [{ at, alike }];
  });
  return { messages: entries.map((one) => (isTurn(one) ? messageOf(one) : one)), kept };
}

/** Each turn that is not the answer it is like costs a rendering: after so many, turns without ids are given up. */
const mostTries = 16;

const isNamed = ({ alike }: KeptTurn) => alike.some(({ named }) => named);

interface Prompt {
  prompt: ChatPrompt;
  ids: number[];
}

/** The prompt of a chat; answers that came back as they were given are in it as they were sampled. */
export async function promptOf(
  handling: Handling,
  read: ChatBody,
  kept: readonly KeptTurn[],
): Promise<Prompt> {
  const { texts, policy } = handling;
  let left = kept;
  for (let tries = 1; left.length > 0; tries++) {
    const found = await withTokens(handling, read, left);
    if ("ids" in found) return found;
    const { without } = found;
    if (without === undefined) break;
    left = left.filter((turn) => turn !== without && (tries < mostTries || isNamed(turn)));
  }
  const prompt = await chatPrompt(texts, read);
  refuseLongText(policy, prompt.text, "messages");
  return { prompt, ids: await texts.encode(prompt.parts) };
}

const beginsWith = (ids: Int32Array, beginning: readonly number[]) =>
  beginning.length <= ids.length && beginning.every((id, i) => ids[i] === id);

/**
 * The prompt with a mark in the place of each turn, and then the turn's tokens in the place of its mark; or a turn that
 * is not the one it is like. Without a turn: the template does not show the marks.
 */
async function withTokens(
  { texts, policy }: Handling,
  read: ChatBody,
  kept: readonly KeptTurn[],
): Promise<Prompt | { without: KeptTurn | undefined }> {
  const { tokenizer } = policy;
  const marks = new Map(kept.map((turn) => [turn.at, `kept-${randomUUID()}`]));
  const messages = read.messages.map((message, at): RequestMessage => {
    const mark = marks.get(at);
    return mark === undefined ? message : { role: "assistant", content: mark };
  });
  const prompt = await chatPrompt(texts, { ...read, messages });
  refuseLongText(policy, prompt.text, "messages");
  const text = joined(prompt.parts);
  let ids: number[] = [];
  let from = 0;
  /** Adds the template's words up to a place, without the token that ended the turn before them. */
  const add = async (to: number) => {
    const end = ids.at(-1);
    if (end !== undefined && tokenizer.eosIds.includes(end)) {
      const word = tokenizer.decode([end], { skipSpecial: false });
      if (word !== "" && text.startsWith(word, from)) from += word.length;
    }
    if (to > from) ids.push(...(await texts.encode(sliceParts(prompt.parts, from, to))));
  };
  for (const turn of kept) {
    const mark = marks.get(turn.at)!;
    const at = text.indexOf(mark, from);
    if (at < 0 || text.includes(mark, at + 1)) return { without: undefined };
    await add(at);
    // A prompt may end with words that begin the answer, which the template does not write before one.
    const found =
      turn.alike.find(({ answer }) => beginsWith(answer.prompt, ids)) ??
      turn.alike.find(({ named }) => named);
    if (!found) return { without: turn };
    const { prompt: before, tokens } = found.answer;
    if (beginsWith(before, ids)) ids = [...before];
    ids.push(...tokens);
    from = at + mark.length;
  }
  await add(text.length);
  return { prompt, ids };
}
