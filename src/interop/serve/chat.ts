import { defined } from "../../../common/options/defined.js";
import { type Finished, generateChoice, type Piece } from "./choice.js";
import {
  checkModel,
  finishReason,
  type Handling,
  remainingContext,
  together,
  usageOf,
  withRows,
} from "./handler.js";
import { ApiError, EventStream } from "./http/api-error.js";
import { chatLogprobs, type TokenReport } from "./logprobs.js";
import { refuseLongText } from "./refuse-oversized.js";
import { chatBody, generationRequest, readRequest } from "./schema/common.js";
import { chatPrompt } from "./tools/chat-prompt.js";
import type { ParsedTools, ToolCall, ToolFormat } from "./tools/tool-format.js";
import { randomUUID } from "node:crypto";

/** So much white space before a call, and no more. */
const mostBlanks = 10_000;

/** Parts a model's text into what is said and what is called, while it is being written. */
export class ToolReader {
  readonly #format: ToolFormat;
  /** What was not given out: all of it once a call may have begun. */
  #text = "";
  /** What came behind the beginning of a call; joined at the end, so that no text is copied for each piece. */
  readonly #held: string[] = [];
  #holds = false;
  /** A message that is no call is passed on as it comes. */
  #isOpen = false;

  readonly #forced: string | undefined;
  readonly #beginnings: readonly string[];

  /**
   * `prefix`: what a forced call began with; it is part of the call. `forced`: the function that is
   * called whatever the model makes of it. `beginnings`: the text begins with one of these, the first
   * words of a call.
   */
  constructor(
    format: ToolFormat,
    prefix = "",
    forced?: string,
    beginnings: readonly string[] = [],
  ) {
    this.#format = format;
    this.#text = prefix;
    this.#forced = forced;
    this.#beginnings = beginnings;
  }

  /** Takes more text and gives what is said for certain. */
  push(text: string): string {
    if (this.#holds) {
      this.#held.push(text);
      return "";
    }
    if (this.#isOpen) return text;
    this.#text += text;
    const end = this.#certain();
    const said = this.#text.slice(0, end);
    this.#text = this.#text.slice(end);
    return said;
  }

  /** What is left to say, and the calls. */
  end(): ParsedTools {
    const rest = this.#text + this.#held.join("");
    this.#text = "";
    this.#held.length = 0;
    const parsed = this.#format.parse(rest);
    const begun = this.#beginnings.length > 0 ? this.#format.begun(rest) : undefined;
    const forced = this.#forced ?? begun;
    if (forced === undefined) return parsed;
    // A function that the client names is the one that is called, whatever follows it.
    const calls = parsed.calls.filter(({ name }) => !this.#forced || name === forced);
    if (calls.length > 0) return { ...parsed, calls };
    const args = this.#format.unfinished(rest, forced);
    return { content: "", calls: [{ name: forced, arguments: args }] };
  }

  /** How much of what was not given out is no part of a call. */
  #certain(): number {
    const { markers, message } = this.#format;
    const text = this.#text;
    if (message !== undefined) {
      const first = text.trimStart()[0];
      this.#holds = first === message;
      // White space alone is kept until it is known what follows; of very much no call can begin.
      this.#isOpen = (first !== undefined && first !== message) || text.length > mostBlanks;
      return this.#isOpen ? text.length : 0;
    }
    let certain = text.length;
    for (const marker of markers) {
      const at = text.indexOf(marker);
      if (at >= 0) {
        this.#holds = true;
        certain = Math.min(certain, at);
      }
      for (let n = marker.length - 1; n > 0; n--) {
        if (text.endsWith(marker.slice(0, n))) certain = Math.min(certain, text.length - n);
      }
    }
    return certain;
  }
}

interface FinishedChat extends Finished {
  content: string;
  calls: ToolCall[];
}

/** `POST /v1/chat/completions`. */
export async function chat(handling: Handling, body: Record<string, unknown>): Promise<void> {
  const { policy, response, signal, model, texts } = handling;
  const { tokenizer } = policy;
  const read = readRequest(chatBody, body);
  const asked = generationRequest(read);
  checkModel(handling, asked);
  if (read.top_logprobs && !read.logprobs) {
    throw new ApiError(400, "'top_logprobs' needs 'logprobs': true.", { param: "top_logprobs" });
  }
  const prompt = await chatPrompt(texts, read);
  refuseLongText(policy, prompt.text, "messages");
  const ids = await texts.encode(prompt.parts);
  const capacity = remainingContext(policy, ids, "messages");
  const beginningIds = await Promise.all(
    prompt.beginnings.map(async (beginning) => await texts.encode(beginning)),
  );
  const limit = read.max_completion_tokens ?? read.max_tokens ?? capacity;
  if (limit === 0) {
    throw new ApiError(400, "At least one token must be asked for.", {
      param: "max_completion_tokens",
    });
  }
  const maxTokens = Math.min(limit, capacity);
  const call = handling.recorder?.begin({ prompt: ids, request: asked, body: read });
  const request = call?.request ?? asked;
  const about = {
    id: `chatcmpl-${randomUUID()}`,
    object: request.stream ? "chat.completion.chunk" : "chat.completion",
    created: Math.floor(Date.now() / 1000),
    model,
  };
  const show = (tokens: readonly TokenReport[]) =>
    read.logprobs
      ? chatLogprobs(tokens, read.top_logprobs ?? 0, { tokenizer, asIds: request.asIds })
      : null;
  const stream = request.stream ? new EventStream(response) : undefined;
  // As vLLM sends them: the first chunk has the prompt's ids, also where there are several choices.
  let promptIds = request.returnIds ? { prompt_token_ids: ids } : {};
  const send = (index: number, delta: object, tokens: readonly TokenReport[], end?: object) => {
    if (!stream) return;
    stream.send({
      ...about,
      ...promptIds,
      choices: [
        {
          index,
          delta,
          logprobs: tokens.length > 0 ? show(tokens) : null,
          finish_reason: null,
          ...end,
        },
      ],
      ...(request.includeUsage ? { usage: null } : {}),
    });
    promptIds = {};
  };

  const answered = withRows(handling, [ids], request.n, async (rows) => {
    const done = await together(
      signal,
      rows.map(({ session, row, index }) => async (either): Promise<FinishedChat> => {
        send(index, { role: "assistant", content: "" }, []);
        const { format, prefix, forced, beginnings } = prompt;
        const reader = format && new ToolReader(format, prefix, forced, beginnings);
        let content = "";
        let told = 0;
        const onPiece = ({ text, tokens }: Piece) => {
          const said = reader ? reader.push(text) : text;
          content += said;
          told += tokens.length;
          if (said !== "" || (read.logprobs && tokens.length > 0)) {
            send(index, { content: said }, tokens);
          }
        };
        const finished = await generateChoice(session, row, tokenizer, {
          ...{ request, index, maxTokens, signal: either, onPiece },
          ownStops: format?.stops ?? [],
          beginnings: beginningIds,
          ...defined({ given: call?.given(index) }),
          ...(call ? { onToken: (token) => call.token(index, token) } : {}),
        });
        const rest = reader?.end() ?? { content: "", calls: [] };
        content += rest.content;
        const calls = rest.calls.map((call, i) => withId(call, i));
        const delta = {
          ...(rest.content === "" ? {} : { content: rest.content }),
          ...(calls.length > 0 ? { tool_calls: calls } : {}),
        };
        if (Object.keys(delta).length > 0) send(index, delta, []);
        const all = { ...finished, content, calls: rest.calls };
        const { finish, stop } = finished.segment;
        call?.finished(index, { finish, ...defined({ stop }), calls: rest.calls });
        send(index, {}, finished.tokens.slice(told), ending(all));
        return all;
      }),
    );
    const count = done.reduce((sum, { segment }) => sum + segment.tokens.length, 0);
    const usage = usageOf(ids.length, count);
    if (stream) {
      if (request.includeUsage) stream.send({ ...about, choices: [], usage });
      stream.end();
      return;
    }
    const choices = done.map((finished, index) => ({
      index,
      message: {
        role: "assistant",
        content: finished.content === "" && finished.calls.length > 0 ? null : finished.content,
        refusal: null,
        ...(finished.calls.length > 0
          ? { tool_calls: finished.calls.map((call) => withId(call)) }
          : {}),
      },
      logprobs: show(finished.tokens),
      ...ending(finished),
    }));
    response
      .writeHead(200, { "content-type": "application/json" })
      .end(JSON.stringify({ ...about, choices, usage, ...promptIds }));
  });
  try {
    await answered;
    call?.closed();
  } catch (error) {
    call?.closed(error);
    throw error;
  }

  function ending({ segment, calls }: FinishedChat): object {
    const reason = finishReason(segment.finish);
    return {
      // A call that was cut off is no call to make.
      finish_reason: calls.length > 0 && reason === "stop" ? "tool_calls" : reason,
      stop_reason: segment.stop ?? null,
      ...(request.returnIds ? { token_ids: [...segment.tokens] } : {}),
      ...(request.returnEntropies ? { entropies: [...segment.entropies] } : {}),
    };
  }
}

/** A call as OpenAI sends it; in a stream each has its number. */
function withId({ name, arguments: args }: ToolCall, index?: number): object {
  return {
    ...defined({ index }),
    id: `call_${randomUUID().replaceAll("-", "").slice(0, 24)}`,
    type: "function",
    function: { name, arguments: args },
  };
}
