import type { RandomState } from "../../base/random/random.js";
import type { Sampling } from "../policy.js";

export const remoteApis = ["completions", "chat"] as const;

/** Whose OpenAI-compatible server it is: they differ in the fields beyond OpenAI's own. */
export type Dialect = "arpo-lab" | "vllm" | "sglang" | "llama.cpp" | "transformers" | "openai";

/** Which of the two text interfaces is used. */
export type RemoteApi = (typeof remoteApis)[number];

/** A message as chat endpoints take it. */
export interface RemoteMessage {
  role: string;
  content: string;
}

interface RequestParts extends Sampling {
  dialect: Dialect;
  api: RemoteApi;
  model: string;
  /** The sequence so far. Some completions take text where the others take tokens. */
  tokens: readonly number[];
  text: string;
  /** The sequence so far as messages, for `chat`; the last one is the assistant's unfinished one. */
  messages: readonly RemoteMessage[];
  maxTokens: number;
  stop: readonly string[];
  topLogprobs: number;
  seed: number;
  /** The sequence's own stream, for a server that can draw from it. */
  randomState: RandomState;
  /** Tokens that end a sequence, the one that pads, and how many ids the tokenizer knows. */
  eosIds: readonly number[];
  padId: number;
  vocabSize: number;
}

type Body = Record<string, unknown>;

/** What OpenAI itself does not know: cut-offs, whole stop strings, tokens by number. */
export const extensions: Record<Dialect, (parts: RequestParts) => Body> = {
  openai: () => ({}),
  // `arpo-lab serve`: the same draws as here, and all that a local policy says about a token.
  "arpo-lab": ({ topK = -1, minP = 0, repetitionPenalty = 1, allowedIds, randomState }) => ({
    top_k: topK,
    min_p: minP,
    repetition_penalty: repetitionPenalty,
    allowed_token_ids: allowedIds,
    random_state: randomState,
    seed: undefined,
    include_stop_str_in_output: true,
    return_token_ids: true,
    return_entropies: true,
    return_tokens_as_token_ids: true,
    skip_special_tokens: false,
  }),
  vllm: ({ topK = -1, minP = 0, repetitionPenalty = 1, allowedIds }) => ({
    top_k: topK,
    min_p: minP,
    repetition_penalty: repetitionPenalty,
    allowed_token_ids: allowedIds,
    include_stop_str_in_output: true,
    return_tokens_as_token_ids: true,
    add_special_tokens: false,
    skip_special_tokens: false,
  }),
  sglang: ({ topK = -1, minP = 0, repetitionPenalty = 1 }) => ({
    top_k: topK,
    min_p: minP,
    repetition_penalty: repetitionPenalty,
    no_stop_trim: true,
    skip_special_tokens: false,
  }),
  "llama.cpp": ({ topK = -1, minP = 0, repetitionPenalty = 1 }) => ({
    top_k: topK === -1 ? 0 : topK,
    min_p: minP,
    repeat_penalty: repetitionPenalty,
    cache_prompt: true,
    return_tokens: true,
  }),
  // `transformers serve` samples as the model's own generation config says, which may be greedily, and
  // takes another one whole, as text.
  transformers: (parts) => ({ generation_config: JSON.stringify(generationConfig(parts)) }),
};

/** Dialects whose chats can go on with an unfinished message. */
const continuing: ReadonlySet<Dialect> = new Set(["arpo-lab", "vllm", "sglang"]);

/** Dialects whose completions take the prompt as text, not as token ids. */
export const takesText: ReadonlySet<Dialect> = new Set(["openai", "transformers"]);

function generationConfig(parts: RequestParts): Body {
  const { temperature = 1, topP = 1, topK = -1, minP = 0, repetitionPenalty = 1 } = parts;
  const allowed = parts.allowedIds && new Set(parts.allowedIds);
  const ends = { eos_token_id: parts.eosIds, pad_token_id: parts.padId };
  const common = {
    ...ends,
    max_new_tokens: parts.maxTokens,
    repetition_penalty: repetitionPenalty,
  };
  const suppressed = allowed && {
    suppress_tokens: Array.from({ length: parts.vocabSize }, (_, id) => id).filter(
      (id) => !allowed.has(id),
    ),
  };
  if (temperature === 0) return { ...common, ...suppressed, do_sample: false };
  const cuts = { top_p: topP, top_k: Math.max(0, topK), min_p: minP > 0 ? minP : undefined };
  return { ...common, ...suppressed, do_sample: true, temperature, ...cuts };
}

/** The body of a generate request; fields that are undefined are not sent. */
export function requestBody(parts: RequestParts): Body {
  const { dialect, api, model, maxTokens, stop, topLogprobs, seed } = parts;
  const { temperature = 1, topP = 1 } = parts;
  const common: Body = {
    model,
    max_tokens: maxTokens,
    temperature,
    top_p: topP,
    seed,
    n: 1,
    stream: false,
    stop: stop.length > 0 ? stop : undefined,
    ...extensions[dialect](parts),
  };
  if (api === "completions") {
    const prompt = takesText.has(dialect) ? parts.text : parts.tokens;
    return { ...common, prompt, logprobs: topLogprobs };
  }
  const unfinished = parts.messages.at(-1)?.role === "assistant";
  return {
    ...common,
    messages: parts.messages,
    logprobs: topLogprobs > 0,
    top_logprobs: topLogprobs > 0 ? topLogprobs : undefined,
    // OpenAI has no such switch; its models start a new message after an assistant's.
    ...(unfinished && continuing.has(dialect)
      ? { continue_final_message: true, add_generation_prompt: false }
      : {}),
  };
}
