import { utf8Length } from "#platform/bytes";
import type { Policy } from "../../policy/policies.js";
import { ApiError } from "./http/api-error.js";

/** The most messages of one chat, whatever the context. */
const mostMessages = 10_000;
/** The most functions of one request, as at OpenAI. */
const mostTools = 128;
/** The most values, of whatever kind, that a body may have beside prompts and messages. */
const mostValues = 10_000;

function tooLong(policy: Policy, param: string, least: string): never {
  throw new ApiError(
    400,
    `This model's maximum context length is ${policy.contextLength} tokens, and the prompt has ${least}.`,
    { param, code: "context_length_exceeded" },
  );
}

/** Refuses a text that has more bytes than the longest tokens of a whole context. */
export function refuseLongText(policy: Policy, text: string, param: string): void {
  const { longestToken } = policy.tokenizer;
  if (longestToken === undefined) return;
  const most = policy.contextLength * longestToken;
  if (text.length <= most && (text.length * 3 <= most || utf8Length(text) <= most)) return;
  const least = Math.ceil(utf8Length(text) / longestToken);
  tooLong(policy, param, `at least ${least}`);
}

/** Counts the values of a body, at most so many. */
function countValues(value: unknown, most: number): number {
  let count = 0;
  const left: unknown[] = [value];
  while (left.length > 0 && count <= most) {
    const next = left.pop();
    count++;
    if (typeof next !== "object" || next === null) continue;
    for (const inner of Object.values(next)) {
      left.push(inner);
      if (left.length > most) return left.length;
    }
  }
  return count;
}

function refuseMany(body: Record<string, unknown>, name: string, most: number, what: string): void {
  const value = body[name];
  if (!Array.isArray(value) || value.length <= most) return;
  throw new ApiError(400, `A request may have at most ${most} ${what}, got ${value.length}.`, {
    param: name,
    code: "array_above_max_length",
  });
}

/** Refuses a chat with more messages, values or text than a context takes. */
function refuseLongChat(
  policy: Policy,
  body: Record<string, unknown>,
  param: string,
  messages: readonly unknown[],
): void {
  const { contextLength } = policy;
  // A message is at least one token, and templates write some around it.
  if (messages.length >= contextLength) {
    tooLong(policy, param, `at least ${messages.length}: a message is one or more`);
  }
  refuseMany(body, param, mostMessages, "messages");
  if (countValues(messages, 10 * mostValues) > 10 * mostValues) {
    throw new ApiError(400, `Messages may have at most ${10 * mostValues} values in all.`, {
      param,
      code: "array_above_max_length",
    });
  }
  let text = 0;
  for (const message of messages as ({ content?: unknown } | null)[]) {
    const content = message?.content;
    if (typeof content === "string") text += utf8Length(content);
    else if (Array.isArray(content)) {
      for (const part of content as ({ text?: unknown } | null)[]) {
        if (typeof part?.text === "string") text += utf8Length(part.text);
      }
    }
  }
  const most = contextLength * (policy.tokenizer.longestToken ?? Infinity);
  if (text > most) {
    const least = Math.ceil(text / policy.tokenizer.longestToken!);
    tooLong(policy, param, `at least ${least}`);
  }
}

/**
 * Refuses, by counting alone, what cannot fit: before the body is checked field by field, rendered or turned into
 * tokens, each of which costs more than the count.
 */
export function refuseOversized(
  policy: Policy,
  body: Record<string, unknown>,
  mostPrompts: number,
): void {
  const { contextLength } = policy;
  const { messages, input, prompt, token_ids, tokens, allowed_token_ids: ids, ...others } = body;
  for (const [name, list] of Object.entries({ token_ids, tokens })) {
    if (!Array.isArray(list) || list.length < contextLength) continue;
    tooLong(policy, name, String(list.length));
  }
  if (typeof prompt === "string") refuseLongText(policy, prompt, "prompt");
  else if (Array.isArray(prompt)) {
    if (typeof prompt[0] === "number") {
      if (prompt.length >= contextLength) tooLong(policy, "prompt", String(prompt.length));
    } else refuseMany(body, "prompt", mostPrompts, "prompts");
    for (const one of prompt as unknown[]) {
      if (typeof one === "string") refuseLongText(policy, one, "prompt");
      else if (Array.isArray(one) && one.length >= contextLength) {
        tooLong(policy, "prompt", String(one.length));
      }
    }
  }
  if (Array.isArray(messages)) refuseLongChat(policy, body, "messages", messages);
  if (Array.isArray(input)) refuseLongChat(policy, body, "input", input);
  else if (typeof input === "string") refuseLongText(policy, input, "input");
  refuseMany(body, "tools", mostTools, "tools");
  if (Array.isArray(ids)) {
    refuseMany(body, "allowed_token_ids", policy.tokenizer.vocabSize, "allowed_token_ids");
  }
  if (countValues(others, mostValues) > mostValues) {
    throw new ApiError(400, `A request may have at most ${mostValues} values beside its prompt.`, {
      code: "array_above_max_length",
    });
  }
}
