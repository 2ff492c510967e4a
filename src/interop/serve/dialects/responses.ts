import { z } from "#zod";
import { defined } from "../../../../common/options/defined.js";
import { answerChat, type BegunChat, type ChatView, countPrompt } from "../answer-chat.js";
import { finishReason, type Handling } from "../handler.js";
import { ApiError, EventStream, named } from "../http/api-error.js";
import { chatOf } from "../kept-prompt.js";
import type { Entry, Part } from "../kept/conversation.js";
import { keptView } from "./kept-view.js";
import { freshId, PartReader } from "../kept/part-reader.js";
import { type ChatBody, chatBody, commonFields, neutral, readRequest } from "../schema/common.js";
import type { WireDialect } from "./definition.js";
import { entriesOf } from "./response-items.js";

const fields = (value: unknown) => value as Record<string, unknown>;

const functionTool = z.looseObject({
  type: z.literal("function", { error: "only tools of type function are supported here" }),
  name: z.string(),
  description: z.string().nullish(),
  parameters: z.looseObject({}).nullish(),
  strict: z.boolean().nullish(),
});

const body = z.object({
  model: z.string(),
  input: z.union([z.string(), z.array(z.looseObject({ type: z.string().nullish() }))]).nullish(),
  instructions: z.string().nullish(),
  previous_response_id: z.string().nullish(),
  tools: z.array(functionTool).nullish(),
  tool_choice: z
    .union([
      z.enum(["none", "auto", "required"]),
      z.looseObject({ type: z.literal("function"), name: z.string() }),
    ])
    .nullish(),
  parallel_tool_calls: z.boolean().nullish(),
  max_output_tokens: z.int().min(1).nullish(),
  text: z.looseObject({ format: z.looseObject({ type: z.string() }).nullish() }).nullish(),
  stream: z.boolean().nullish(),
  temperature: commonFields.temperature,
  top_p: commonFields.top_p,

  // Extensions.
  seed: commonFields.seed,
  top_k: commonFields.top_k,
  min_p: commonFields.min_p,
  chat_template_kwargs: chatBody.shape.chat_template_kwargs,

  // Of no effect.
  include: z.array(z.string()).nullish(),
  store: z.boolean().nullish(),
  metadata: z.unknown().optional(),
  reasoning: z.unknown().optional(),
  service_tier: z.unknown().optional(),
  prompt_cache_key: z.unknown().optional(),
  prompt_cache_retention: z.unknown().optional(),
  prompt_cache_options: z.unknown().optional(),
  safety_identifier: z.unknown().optional(),
  user: z.unknown().optional(),
  max_tool_calls: z.unknown().optional(),
  stream_options: z.unknown().optional(),

  // Not supported.
  truncation: neutral((value) => value === "disabled", "disabled"),
  background: neutral((value) => value === false, "false"),
  conversation: neutral(() => false, "null", ": use previous_response_id"),
  prompt: neutral(() => false, "null", ": write the input out"),
  top_logprobs: neutral((value) => value === 0, "0"),
  context_management: neutral(() => false, "null"),
});
type Body = z.infer<typeof body>;

interface Asked {
  read: Body;
  entries: Entry[];
  chat: ChatBody;
  kept: ReturnType<typeof chatOf>["kept"];
}

/** What a request asks for, as a chat. */
function chatOfRequest({ answers }: Handling, raw: Record<string, unknown>): Asked {
  const read = readRequest(body, raw);
  const id = read.previous_response_id ?? undefined;
  const previous = id === undefined ? undefined : answers.get(id);
  if (id !== undefined && !previous) {
    throw new ApiError(404, `Previous response with id '${id.slice(0, 80)}' not found.`, {
      param: "previous_response_id",
      code: "previous_response_not_found",
    });
  }
  const before = previous ? [...previous.before, previous.turn] : [];
  const entries = entriesOf(read.input ?? [], before, answers);
  const { instructions } = read;
  const system: Entry[] = instructions ? [{ role: "system", content: instructions }] : [];
  const { messages, kept } = chatOf([...system, ...entries], answers);
  if (messages.length === 0) {
    throw new ApiError(400, "One of 'input' or 'previous_response_id' must be provided.", {
      param: "input",
      code: "missing_required_parameter",
    });
  }
  return { read, entries, kept, chat: asChat(read, messages) };
}

function asChat(read: Body, messages: ChatBody["messages"]): ChatBody {
  const { tools, tool_choice: choice, text, max_output_tokens: most } = read;
  const { model, stream, temperature, top_p, seed, top_k, min_p } = read;
  const format = text?.format;
  const { type, ...schema } = format ?? { type: "text" };
  const built = {
    ...{ model, messages, stream, temperature, top_p, seed, top_k, min_p },
    parallel_tool_calls: read.parallel_tool_calls,
    chat_template_kwargs: read.chat_template_kwargs,
    max_completion_tokens: most,
    tools: tools?.map(({ type: kind, ...named }) => ({ type: kind, function: named })),
    tool_choice:
      typeof choice === "object" && choice
        ? { type: "function", function: { name: choice.name } }
        : choice,
    ...(type === "text"
      ? {}
      : { response_format: { type, ...(type === "json_schema" ? { json_schema: schema } : {}) } }),
  };
  return named(renamed, () => readRequest(chatBody, defined(built)));
}

const idsOf = (kind: Part["kind"]): Pick<Part, "id" | "callId"> =>
  kind === "call"
    ? { id: freshId("fc"), callId: freshId("call") }
    : { id: freshId(kind === "thought" ? "rs" : "msg") };

/** What a client keeps of a thought where it stores nothing else: its id. */
const sealed = (id: string) => Buffer.from(id).toString("base64");

/** A part as an item. `begun`: nothing of it is written yet. */
function itemOf(part: Readonly<Part>, status: string, sealedToo: boolean, begun = false): object {
  const { id, kind, name, callId } = part;
  const text = begun ? "" : part.text;
  if (kind === "call") {
    return { id, type: "function_call", status, call_id: callId, name, arguments: text };
  }
  if (kind === "thought") {
    return {
      ...{ id, type: "reasoning", summary: begun ? [] : [{ type: "summary_text", text }] },
      ...(sealedToo ? { encrypted_content: sealed(id!) } : {}),
    };
  }
  const content = [{ type: "output_text", text, annotations: [], logprobs: [] }];
  return { id, type: "message", role: "assistant", status, content: begun ? [] : content };
}

function responseView(
  { response, model, answers }: Handling,
  { read, entries }: Asked,
  { prompt, text: promptText, request, number }: BegunChat,
): ChatView {
  const id = freshId("resp");
  const stream = request.stream ? new EventStream(response) : undefined;
  let next = 0;
  const send = (type: string, data: object) =>
    stream?.send({ type, sequence_number: next++, ...data }, type);
  const isSealed = read.include?.includes("reasoning.encrypted_content") ?? false;
  const about = {
    ...{ id, object: "response", created_at: Math.floor(Date.now() / 1000) },
    ...{ error: null, instructions: read.instructions ?? null, model },
    ...{ parallel_tool_calls: read.parallel_tool_calls ?? true },
    previous_response_id: read.previous_response_id ?? null,
    ...{ tool_choice: read.tool_choice ?? "auto", tools: read.tools ?? [] },
    ...{ temperature: request.sampling.temperature ?? 1, top_p: request.sampling.topP ?? 1 },
    ...{ max_output_tokens: read.max_output_tokens ?? null, truncation: "disabled" },
    ...{ store: read.store ?? true, metadata: fields(read.metadata ?? {}) },
    text: read.text ?? { format: { type: "text" } },
  };
  let status = "completed";
  const at = ({ id: item }: Readonly<Part>, index: number) => ({
    ...{ item_id: item, output_index: index },
  });
  const reader = new PartReader(promptText, idsOf, {
    begun: (part, index) => {
      const item = itemOf(part, "in_progress", isSealed, true);
      send("response.output_item.added", { output_index: index, item });
      if (part.kind === "thought") {
        send("response.reasoning_summary_part.added", {
          ...at(part, index),
          ...{ summary_index: 0, part: { type: "summary_text", text: "" } },
        });
      }
      if (part.kind === "text") send("response.content_part.added", contentPart(part, index, ""));
    },
    more: (part, index, delta) => {
      const [event, place] = {
        thought: ["response.reasoning_summary_text", { summary_index: 0 }] as const,
        text: ["response.output_text", { content_index: 0, logprobs: [] }] as const,
        call: ["response.function_call_arguments", {}] as const,
      }[part.kind];
      send(`${event}.delta`, { ...at(part, index), ...place, delta });
    },
    ended: (part, index, isLast) => {
      const { kind, text, name } = part;
      const place = at(part, index);
      if (kind === "thought") {
        const summary = { ...place, summary_index: 0 };
        send("response.reasoning_summary_text.done", { ...summary, text });
        const whole = { type: "summary_text", text };
        send("response.reasoning_summary_part.done", { ...summary, part: whole });
      } else if (kind === "text") {
        const content = { ...place, content_index: 0 };
        send("response.output_text.done", { ...content, text, logprobs: [] });
        send("response.content_part.done", contentPart(part, index, text));
      } else {
        send("response.function_call_arguments.done", { ...place, name, arguments: text });
      }
      const item = itemOf(part, isLast ? status : "completed", isSealed);
      send("response.output_item.done", { output_index: index, item });
    },
  });
  const { piece, ended } = keptView(reader, prompt, (kept) =>
    answers.add({ ...kept, id, before: entries, ...defined({ number }) }),
  );
  return {
    piece,
    ended: (index, finished) => {
      if (finishReason(finished.segment.finish) === "length") status = "incomplete";
      ended(index, finished);
    },
    opened: () => {
      const begun = { ...about, status: "in_progress", incomplete_details: null };
      const shown = { ...begun, output: [], usage: null };
      send("response.created", { response: shown });
      send("response.in_progress", { response: shown });
    },
    done: (_, used) => {
      const { parts, thoughtTokens } = reader;
      const output = parts.map((part, i) =>
        itemOf(part, i === parts.length - 1 ? status : "completed", isSealed),
      );
      const whole = {
        ...{ ...about, status, output },
        incomplete_details: status === "incomplete" ? { reason: "max_output_tokens" } : null,
        usage: {
          input_tokens: used.prompt_tokens,
          input_tokens_details: { cached_tokens: 0 },
          output_tokens: used.completion_tokens,
          output_tokens_details: { reasoning_tokens: thoughtTokens },
          total_tokens: used.total_tokens,
        },
      };
      if (stream) {
        send(`response.${status}`, { response: whole });
        stream.close();
      } else {
        response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(whole));
      }
    },
  };

  function contentPart(part: Readonly<Part>, index: number, text: string): object {
    const shown = { type: "output_text", text, annotations: [], logprobs: [] };
    return { ...at(part, index), content_index: 0, part: shown };
  }
}

const renamed = {
  messages: "input",
  max_completion_tokens: "max_output_tokens",
  response_format: "text.format",
  function: "",
};

async function create(handling: Handling, raw: Record<string, unknown>): Promise<void> {
  const asked = chatOfRequest(handling, raw);
  const { chat, kept } = asked;
  try {
    await answerChat(handling, chat, (begun) => responseView(handling, asked, begun), kept);
  } catch (error) {
    named(renamed, () => {
      throw error;
    });
  }
}

async function countInput(handling: Handling, raw: Record<string, unknown>): Promise<object> {
  const { model, ...others } = raw;
  const { chat, kept } = chatOfRequest(handling, { model: model ?? handling.model, ...others });
  const count = await countPrompt(handling, chat, kept);
  return { object: "response.input_tokens", input_tokens: count };
}

/** OpenAI's Responses. */
export const responses: WireDialect = {
  name: "Responses",
  posts: { "/v1/responses": create, "/v1/responses/input_tokens": countInput },
  refused: (error) => error.body(),
  broken: (error) => {
    const { error: said } = error.body();
    const { message, param, code } = said;
    return { event: "error", data: { type: "error", message, param, code, error: said } };
  },
};
