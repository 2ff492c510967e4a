import { defined } from "../../../../common/options/defined.js";
import { answerChat, type BegunChat, type ChatView, type FinishedChat } from "../answer-chat.js";
import { finishReason, type Handling } from "../handler.js";
import { ApiError, EventStream } from "../http/api-error.js";
import { chatLogprobs, type TokenReport } from "../logprobs.js";
import { type ChatBody, chatBody, readRequest } from "../schema/common.js";
import type { ToolCall } from "../tools/tool-format.js";
import type { WireDialect } from "./definition.js";
import { randomUUID } from "node:crypto";

/** `POST /v1/chat/completions`. */
async function chat(handling: Handling, body: Record<string, unknown>): Promise<void> {
  const read = readRequest(chatBody, body);
  if (read.top_logprobs && !read.logprobs) {
    throw new ApiError(400, "'top_logprobs' needs 'logprobs': true.", { param: "top_logprobs" });
  }
  await answerChat(handling, read, (begun) => chatView(handling, read, begun));
}

function chatView(
  { policy: { tokenizer }, model, response }: Handling,
  read: ChatBody,
  { prompt, request }: BegunChat,
): ChatView {
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
  let promptIds = request.returnIds ? { prompt_token_ids: prompt } : {};
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
  return {
    opened: (index) => send(index, { role: "assistant", content: "" }, []),
    piece: (index, said, tokens) => {
      if (said !== "" || (read.logprobs && tokens.length > 0)) {
        send(index, { content: said }, tokens);
      }
    },
    ended: (index, finished) => {
      const calls = finished.calls.map((call, i) => withId(call, i));
      const delta = {
        ...(finished.rest === "" ? {} : { content: finished.rest }),
        ...(calls.length > 0 ? { tool_calls: calls } : {}),
      };
      if (Object.keys(delta).length > 0) send(index, delta, []);
      send(index, {}, finished.tokens.slice(finished.told), ending(finished));
    },
    done: (all, usage) => {
      if (stream) {
        if (request.includeUsage) stream.send({ ...about, choices: [], usage });
        stream.end();
        return;
      }
      const choices = all.map((finished, index) => ({
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
    },
  };

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

/** OpenAI's chat completions. */
export const chatCompletions: WireDialect = {
  name: "chat completions",
  posts: { "/v1/chat/completions": chat },
  refused: (error) => error.body(),
  broken: (error) => ({ data: error.body() }),
};
