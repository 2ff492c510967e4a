import type { Sampling } from "../policy.js";

/** Whose OpenAI-compatible server it is: they differ in the fields beyond OpenAI's own. */
export type Dialect = "vllm" | "sglang" | "llama.cpp" | "openai";

/** Which of the two text interfaces is used. */
export type RemoteApi = "completions" | "chat";

/** A message as chat endpoints take it. */
export interface RemoteMessage {
  role: string;
  content: string;
}

export interface RequestParts extends Sampling {
  dialect: Dialect;
  api: RemoteApi;
  model: string;
  /** The row so far. `openai` completions take text where the others take tokens. */
  tokens: readonly number[];
  text: string;
  /** The row so far as messages, for `chat`; the last one is the assistant's unfinished one. */
  messages: readonly RemoteMessage[];
  maxTokens: number;
  stop: readonly string[];
  topLogprobs: number;
  seed: number;
}

type Body = Record<string, unknown>;

/** What OpenAI itself does not know: cut-offs, whole stop strings, tokens by number. */
const extensions: Record<Dialect, (parts: RequestParts) => Body> = {
  openai: () => ({}),
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
};

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
    const prompt = dialect === "openai" ? parts.text : parts.tokens;
    return { ...common, prompt, logprobs: topLogprobs };
  }
  const unfinished = parts.messages.at(-1)?.role === "assistant";
  return {
    ...common,
    messages: parts.messages,
    logprobs: topLogprobs > 0,
    top_logprobs: topLogprobs > 0 ? topLogprobs : undefined,
    // OpenAI has no such switch; its models start a new message after an assistant's.
    ...(unfinished && (dialect === "vllm" || dialect === "sglang")
      ? { continue_final_message: true, add_generation_prompt: false }
      : {}),
  };
}
