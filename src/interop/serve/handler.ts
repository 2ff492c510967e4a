import type { Policy } from "../../policy/policies.js";
import type { GeneratedToken, Segment, Sequence, Session } from "../../policy/policy.js";
import type { BatchAdmission } from "./batch-admission.js";
import { openRows } from "./choice.js";
import { ApiError } from "./http/api-error.js";
import type { AnswerStore } from "./kept/answer-store.js";
import type { ChatBody, GenerationRequest } from "./schema/common.js";
import type { TextWork } from "./text-work.js";
import type { ToolCall } from "./tools/tool-format.js";
import type { ServerResponse } from "node:http";

/** A chat request whose prompt is known. */
export interface BegunCall {
  prompt: readonly number[];
  request: GenerationRequest;
  body: ChatBody;
  /** How often the client says that it asked before. */
  retry?: number;
}

/** How one choice of a call came to its end: what it calls, or why it was cut. */
export type CallEnding = Pick<Segment, "finish" | "stop"> & { calls: readonly ToolCall[] };

/** A call while it is being answered. */
export interface OpenCall {
  /** Its place among the recorder's requests. */
  number: number;
  /** How it is generated: sampling and stream may differ from what the client asked. */
  request: GenerationRequest;
  /** What a choice begins with, from a record; `whole`: nothing follows it. */
  given(index: number): { segment: Segment; whole: boolean } | undefined;
  token(index: number, token: GeneratedToken): void;
  finished(index: number, ending: CallEnding): void;
  /** Everything about the call is over; with the error that ended it, if one did. */
  closed(error?: unknown): void;
}

/** Keeps what a client asks and what it is answered. */
export interface CallRecorder {
  /** Throws where the call may not be made. */
  begin(call: BegunCall): OpenCall;
}

/** What answering a request needs. */
export interface Handling {
  policy: Policy;
  /** The model's name, as `/v1/models` says it. */
  model: string;
  /** Requests may name any model: many harnesses name one of OpenAI's. */
  anyModel: boolean;
  admission: BatchAdmission;
  texts: TextWork;
  response: ServerResponse;
  /** Aborted when the client is gone or the server ends. */
  signal: AbortSignal;
  /** Answers that clients may name in later requests. */
  answers: AnswerStore;
  /** Keeps the calls of a captured session. */
  recorder?: CallRecorder;
}

/** OpenAI's count of tokens. */
export function usageOf(promptTokens: number, completionTokens: number) {
  return {
    prompt_tokens: promptTokens,
    completion_tokens: completionTokens,
    total_tokens: promptTokens + completionTokens,
  };
}

/** OpenAI's word for why a segment ended. */
export const finishReason = (finish: string): "stop" | "length" =>
  finish === "length" || finish === "context" ? "length" : "stop";

/** Throws unless the request is for the model that is served and its ids are the model's. */
export function checkModel(
  { policy, model, anyModel }: Handling,
  request: GenerationRequest,
): void {
  if (!anyModel && request.model !== model) {
    throw new ApiError(404, `The model '${request.model}' does not exist; this is '${model}'.`, {
      param: "model",
      code: "model_not_found",
    });
  }
  const { vocabSize } = policy.tokenizer;
  const wrong = request.sampling.allowedIds?.find((id) => id >= vocabSize);
  if (wrong !== undefined) {
    throw new ApiError(400, `Token ids must be below ${vocabSize}, got ${wrong}.`, {
      param: "allowed_token_ids",
    });
  }
}

/** Throws unless a prompt fits; gives the room behind it. */
export function remainingContext(policy: Policy, prompt: readonly number[], param: string): number {
  const { contextLength, tokenizer } = policy;
  if (prompt.length === 0) {
    throw new ApiError(400, "The prompt must have at least one token.", { param });
  }
  const wrong = prompt.find((id) => id >= tokenizer.vocabSize);
  if (wrong !== undefined) {
    throw new ApiError(400, `Token ids must be below ${tokenizer.vocabSize}, got ${wrong}.`, {
      param,
    });
  }
  if (prompt.length >= contextLength) {
    throw new ApiError(
      400,
      `This model's maximum context length is ${contextLength} tokens, and the prompt has ${prompt.length}.`,
      { param, code: "context_length_exceeded" },
    );
  }
  return contextLength - prompt.length;
}

/** Opens every prompt's sequences, runs `use`, and gives their memory back whatever happens. */
export async function withRows<T>(
  { policy, admission, signal }: Handling,
  prompts: readonly (readonly number[])[],
  n: number,
  use: (rows: { session: Session; row: Sequence; prompt: number; index: number }[]) => Promise<T>,
): Promise<T> {
  const free = await admission.take(prompts.length * n, signal);
  const sessions: Session[] = [];
  try {
    const all = prompts.flatMap((tokens, prompt) => {
      const { session, rows: sequences } = openRows(policy, tokens, n);
      sessions.push(session);
      return sequences.map((sequence, index) => ({ session, row: sequence, prompt, index }));
    });
    return await use(all);
  } finally {
    for (const session of sessions) session.dispose();
    free();
  }
}

/** All of them, or the first failure, which ends the others. */
export async function together<T>(
  signal: AbortSignal,
  makers: readonly ((signal: AbortSignal) => Promise<T>)[],
): Promise<T[]> {
  const failed = new AbortController();
  const either = AbortSignal.any([signal, failed.signal]);
  const running = makers.map((make) =>
    make(either).catch((error: unknown) => {
      failed.abort(error);
      throw error;
    }),
  );
  try {
    return await Promise.all(running);
  } finally {
    // No sequence may be given back while it is still being written.
    await Promise.allSettled(running);
  }
}
