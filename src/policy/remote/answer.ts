import { z } from "#zod";
import type { Tokenizer } from "../../model/tokenizer/tokenizer.js";
import type { FinishReason } from "../policy.js";
import { StopWatcher, TokenTexts } from "../stops.js";

/** One generated position, as far as the endpoint says. */
export interface RemoteToken {
  id: number;
  /** NaN when the endpoint did not say. */
  logprob: number;
  top: { id: number; logprob: number }[];
  /** What it was sampled from, where the endpoint says so: rising, the token among them; none is the whole vocabulary. */
  support?: number[];
  /** Of the full distribution; only a server of our own says it. */
  entropy?: number;
}

interface RemoteAnswer {
  tokens: RemoteToken[];
  finish: FinishReason;
  stop?: string;
  /** How many tokens the endpoint took the prompt for, if it says so. */
  promptTokens?: number;
}

/** A last bit above 0 is rounding; more is no probability, and would be learned from. */
const rounding = 1e-3;
const logProbability = z
  .number()
  .max(rounding, { error: "a log-probability must be at most 0" })
  .transform((value) => Math.min(0, value));
const entropy = z
  .number()
  .min(-rounding, { error: "an entropy must be at least 0" })
  .transform((value) => Math.max(0, value));
const alternative = z.looseObject({
  id: z.number().int().optional(),
  token: z.string().nullish(),
  logprob: logProbability,
});
const position = alternative.extend({ top_logprobs: z.array(alternative).nullish() });
/** What tokens were sampled from: places in one list (vLLM), or a count for each (prime-rl). */
const mask = z.looseObject({
  token_ids: z.array(z.number().int().min(0)),
  offsets: z.array(z.number().int().min(0)).nullish(),
  counts: z.array(z.number().int().min(0)).nullish(),
});
const choice = z.looseObject({
  text: z.string().nullish(),
  message: z.looseObject({ content: z.string().nullish() }).nullish(),
  finish_reason: z.string().nullish(),
  stop_reason: z.union([z.string(), z.number()]).nullish(),
  matched_stop: z.union([z.string(), z.number()]).nullish(),
  token_ids: z.array(z.number().int()).nullish(),
  tokens: z.array(z.number().int()).nullish(),
  entropies: z.array(entropy).nullish(),
  sampling_mask: mask.nullish(),
  logprobs: z
    .looseObject({
      // chat, and llama.cpp's completions
      content: z.array(position).nullish(),
      // completions
      tokens: z.array(z.string()).nullish(),
      token_logprobs: z.array(logProbability.nullable()).nullish(),
      top_logprobs: z.array(z.record(z.string(), logProbability).nullable()).nullish(),
    })
    .nullish(),
});
const response = z.looseObject({
  choices: z.array(choice).min(1),
  usage: z.looseObject({ prompt_tokens: z.number().int().nullish() }).nullish(),
});
type Choice = z.infer<typeof choice>;

/** A token's number: said outright, as "token_id:17", or found by its text. */
function tokenId(
  text: string | null | undefined,
  id: number | undefined,
  tokenizer: Tokenizer,
): number {
  if (id !== undefined) return id;
  const match = /^token_id:(\d+)$/.exec(text ?? "");
  if (match) return Number(match[1]);
  if (text === undefined || text === null || text === "") return -1;
  const ids = tokenizer.encode(text);
  return ids.length === 1 ? ids[0]! : -1;
}

/** Positions with everything that was said about them; ids are -1 where the text does not tell. */
function positions({ logprobs }: Choice, tokenizer: Tokenizer): RemoteToken[] {
  if (logprobs?.content) {
    return logprobs.content.map((p) => ({
      id: tokenId(p.token, p.id, tokenizer),
      logprob: p.logprob,
      top: (p.top_logprobs ?? []).map((a) => ({
        id: tokenId(a.token, a.id, tokenizer),
        logprob: a.logprob,
      })),
    }));
  }
  return (logprobs?.tokens ?? []).map((text, i) => ({
    id: tokenId(text, undefined, tokenizer),
    logprob: logprobs?.token_logprobs?.[i] ?? NaN,
    top: Object.entries(logprobs?.top_logprobs?.[i] ?? {}).map(([alternativeText, logprob]) => ({
      id: tokenId(alternativeText, undefined, tokenizer),
      logprob,
    })),
  }));
}

const unknown = (id: number): RemoteToken => ({ id, logprob: NaN, top: [] });

/** The tokens with what each was sampled from, where the endpoint says so; throws where that does not fit them. */
function withSupports(
  tokens: RemoteToken[],
  said: z.infer<typeof mask>,
  vocabSize: number,
): RemoteToken[] {
  const { token_ids: ids, counts } = said;
  let end = 0;
  const offsets = said.offsets ?? [0, ...(counts ?? []).map((count) => (end += count))];
  const rises = offsets.every((at, i) => at >= (offsets[i - 1] ?? 0));
  if (offsets.length !== tokens.length + 1 || offsets[0] !== 0 || !rises) {
    throw new TypeError(
      `a sampling_mask of ${tokens.length} tokens must have a rising place or a count for each, got ${offsets.length - 1}`,
    );
  }
  if (offsets.at(-1) !== ids.length || ids.some((id) => id >= vocabSize)) {
    throw new RangeError(
      `a sampling_mask must have ${offsets.at(-1)} ids below ${vocabSize}, got ${ids.length}`,
    );
  }
  return tokens.map((token, t) => {
    const own = new Set(ids.slice(offsets[t], offsets[t + 1]));
    if (own.size === 0) return token;
    // The one that was sampled was left.
    return { ...token, support: [...own.add(token.id)].sort((a, b) => a - b) };
  });
}

/** The generated tokens: by number where the endpoint gives numbers, else by encoding the text. */
function resolve(picked: Choice, text: string, tokenizer: Tokenizer): RemoteToken[] {
  const known = positions(picked, tokenizer);
  const { sampling_mask: said } = picked;
  const masked = (tokens: RemoteToken[]) =>
    said ? withSupports(tokens, said, tokenizer.vocabSize) : tokens;
  const ids = picked.token_ids ?? picked.tokens;
  if (ids && ids.length > 0) {
    const entropies = picked.entropies ?? [];
    const tokens = ids.map((id, i) => ({
      ...(known[i] ?? unknown(id)),
      ...{ id, entropy: entropies[i] },
    }));
    return masked(tokens);
  }
  if (known.length > 0 && known.every(({ id }) => id >= 0)) return masked(known);
  const encoded = tokenizer.encode(text);
  // Log-probs belong to the endpoint's tokens; they may be used only if ours are the same ones.
  return encoded.length === known.length
    ? encoded.map((id, i) => ({ ...known[i]!, id }))
    : encoded.map(unknown);
}

/** Which stop string ended the text, when the endpoint does not say. */
function openStop(text: string, stops: readonly string[]): string | undefined {
  const ended = stops.find((stop) => text.endsWith(stop));
  if (ended !== undefined) return ended;
  // The endpoint cut the stop string off: a tag that was opened last and never closed.
  let found: { stop: string; at: number } | undefined;
  for (const stop of stops) {
    const opening = /^<\/(.+)>$/.exec(stop);
    const at = opening ? text.lastIndexOf(`<${opening[1]}>`) : -1;
    if (at >= 0 && !text.includes(stop, at) && at > (found?.at ?? -1)) found = { stop, at };
  }
  return found?.stop;
}

/** What the answer is read with. */
interface Reading {
  tokenizer: Tokenizer;
  stops: readonly string[];
  /** Tokens that were asked for. */
  maxTokens: number;
}

/**
 * Reads an endpoint's answer. The segment ends with the whole stop string or with an end token, as a
 * local model's does; tokens that had to be added for that have no log-prob.
 *
 * Throws where the answer holds no text and no tokens, or more than was asked for: that is a machine
 * that fails, not a model that has nothing or much to say.
 */
export function readAnswer(body: unknown, reading: Reading): RemoteAnswer {
  const parsed = response.safeParse(body);
  if (!parsed.success) throw new TypeError(z.prettifyError(parsed.error));
  const { choices, usage } = parsed.data;
  const picked = choices[0]!;
  return {
    ...readChoice(picked, reading),
    promptTokens: usage?.prompt_tokens ?? undefined,
  };
}

/** Throws unless there is something to read, of no more tokens than were asked for. */
function checkChoice(picked: Choice, { tokenizer, maxTokens }: Reading): void {
  const ids = picked.token_ids ?? picked.tokens ?? [];
  const text = picked.text ?? picked.message?.content;
  if ((text === undefined || text === null) && ids.length === 0) {
    throw new TypeError(
      `neither text nor tokens (finish_reason ${JSON.stringify(picked.finish_reason ?? null)})`,
    );
  }
  // One more is an end token that some do not count.
  if (ids.length > maxTokens + 1) {
    throw new RangeError(`${ids.length} tokens where at most ${maxTokens} were asked for`);
  }
  tokenizer.decode(ids); // throws where one is not of the vocabulary
}

function readChoice(picked: Choice, reading: Reading): RemoteAnswer {
  checkChoice(picked, reading);
  const { tokenizer, stops, maxTokens } = reading;
  const text = picked.text ?? picked.message?.content ?? "";
  const tokens = resolve(picked, text, tokenizer);
  // Our tokens of a text may be a few more than the endpoint's own.
  if (tokens.length > 2 * maxTokens + 16) {
    throw new RangeError(`${tokens.length} tokens where at most ${maxTokens} were asked for`);
  }
  // Some count before they look: a stop string that fills the last place is still one.
  if (picked.finish_reason === "length" && !stops.some((stop) => text.endsWith(stop))) {
    return { tokens, finish: "length" };
  }
  const said = picked.stop_reason ?? picked.matched_stop;
  const last = tokens.at(-1)?.id ?? -1;
  const ended = tokenizer.eosIds.includes(last);
  const stop =
    typeof said === "string" && stops.includes(said)
      ? said
      : ended || typeof said === "number"
        ? undefined
        : openStop(text, stops);
  if (stop === undefined) {
    if (!ended) tokens.push(unknown(tokenizer.eosId));
    return { tokens, finish: "end" };
  }
  const whole = tokenizer.decode(tokens.map(({ id }) => id));
  if (!whole.trimEnd().endsWith(stop)) tokens.push(...tokenizer.encode(stop).map(unknown));
  return { tokens, finish: "stop", stop };
}

interface Begun {
  tokenizer: Tokenizer;
  stops: readonly string[];
  /** Tokens before the answer that are one text with it. */
  begun: readonly number[];
}

/**
 * An answer up to a stop string that began before it: an endpoint looks for stop strings in what it
 * writes itself, and continues.
 */
export function cutAtStop(answer: RemoteAnswer, { tokenizer, stops, begun }: Begun): RemoteAnswer {
  if (begun.length === 0 || stops.length === 0) return answer;
  const watcher = new StopWatcher(new TokenTexts(tokenizer), stops, begun);
  for (const [at, { id }] of answer.tokens.entries()) {
    const stop = watcher.push(id);
    if (stop === undefined) continue;
    return { ...answer, tokens: answer.tokens.slice(0, at + 1), finish: "stop", stop };
  }
  return answer;
}
