import { z } from "#zod";
import { defined } from "../../../../common/options/defined.js";
import { asObject } from "../../../tools/calls/dialects/json-call.js";
import { answerChat, type BegunChat, type ChatView, countPrompt } from "../answer-chat.js";
import { finishReason, type Handling } from "../handler.js";
import { ApiError, EventStream, named } from "../http/api-error.js";
import { chatOf } from "../kept-prompt.js";
import { type Entry, isTurn, type Part } from "../kept/conversation.js";
import { keptView } from "./kept-view.js";
import { freshId, PartReader } from "../kept/part-reader.js";
import { type ChatBody, chatBody, neutral, readRequest } from "../schema/common.js";
import type { WireDialect } from "./definition.js";

const textBlock = z.looseObject({ type: z.literal("text"), text: z.string() });
const blockTypes = ["text", "thinking", "redacted_thinking", "tool_use", "tool_result"];
const only = `only blocks of type ${blockTypes.join(", ")} are supported here`;
const block = z.discriminatedUnion(
  "type",
  [
    textBlock,
    z.looseObject({
      ...{ type: z.literal("thinking"), thinking: z.string(), signature: z.string().nullish() },
    }),
    z.looseObject({ type: z.literal("redacted_thinking") }),
    z.looseObject({
      ...{ type: z.literal("tool_use"), id: z.string(), name: z.string() },
      input: z.looseObject({}),
    }),
    z.looseObject({
      type: z.literal("tool_result"),
      tool_use_id: z.string(),
      content: z.union([z.string(), z.array(textBlock)]).nullish(),
    }),
  ],
  { error: only },
);

const body = z.object({
  model: z.string(),
  messages: z
    .array(
      z.looseObject({
        role: z.enum(["user", "assistant"]),
        content: z.union([z.string(), z.array(block)], { error: `a text or blocks; ${only}` }),
      }),
    )
    .min(1),
  max_tokens: z.int().min(1),
  system: z.union([z.string(), z.array(textBlock)]).nullish(),
  tools: z
    .array(
      z.looseObject({
        type: z
          .literal("custom", { error: "only tools with a schema are supported here" })
          .nullish(),
        name: z.string(),
        description: z.string().nullish(),
        input_schema: z.looseObject({}),
        strict: z.boolean().nullish(),
      }),
    )
    .nullish(),
  tool_choice: z
    .looseObject({
      type: z.enum(["auto", "any", "tool", "none"]),
      name: z.string().optional(),
      disable_parallel_tool_use: z.boolean().nullish(),
    })
    .nullish(),
  thread: z.looseObject({ type: z.string(), previous_message_id: z.string().optional() }).nullish(),
  output_config: z.looseObject({ format: z.looseObject({ type: z.string() }).nullish() }).nullish(),
  stop_sequences: z.array(z.string().min(1)).max(64).nullish(),
  stream: z.boolean().nullish(),
  temperature: z.number().min(0).max(100).nullish(),
  top_p: z.number().gt(0).max(1).nullish(),
  top_k: z.int().min(-1).nullish(),

  // Extensions.
  seed: z.int().nullish(),
  chat_template_kwargs: chatBody.shape.chat_template_kwargs,

  // Of no effect.
  thinking: z.unknown().optional(),
  metadata: z.unknown().optional(),
  service_tier: z.unknown().optional(),
  cache_control: z.unknown().optional(),
  inference_geo: z.unknown().optional(),

  // Not supported.
  container: neutral(() => false, "null"),
  mcp_servers: neutral((value) => Array.isArray(value) && value.length === 0, "[]"),
  context_management: neutral(() => false, "null"),
});
type Body = z.infer<typeof body>;

/** The key of an input that the model wrote and that is no JSON object. */
const notJson = "INVALID_JSON";

const inputOf = (text: string) => asObject(text) ?? { [notJson]: text };

function argumentsOf(input: Record<string, unknown>): string {
  const wrong = Object.keys(input).length === 1 ? input[notJson] : undefined;
  return typeof wrong === "string" ? wrong : JSON.stringify(input);
}

const textOf = (content: string | readonly { text: string }[] | null | undefined, between = "") =>
  typeof content === "string" ? content : (content ?? []).map(({ text }) => text).join(between);

/** A conversation with the messages of a request behind it; results stand before the user's text of their message. */
function entriesOf({ messages }: Pick<Body, "messages">, before: readonly Entry[]): Entry[] {
  const entries = [...before];
  const called = new Set(
    before.flatMap((one) => (isTurn(one) ? one.parts.map(({ callId }) => callId) : [])),
  );
  messages.forEach(({ role, content }, at) => {
    const blocks =
      typeof content === "string" ? [{ type: "text" as const, text: content }] : content;
    if (role === "assistant") {
      const parts = blocks.flatMap((one, i): Part[] => {
        if (one.type === "text") return [{ kind: "text", text: one.text }];
        if (one.type === "redacted_thinking") return [];
        if (one.type === "thinking") {
          return [
            { kind: "thought", text: one.thinking, ...defined({ id: one.signature ?? undefined }) },
          ];
        }
        if (one.type === "tool_use") {
          called.add(one.id);
          return [{ kind: "call", name: one.name, text: argumentsOf(one.input), callId: one.id }];
        }
        return misplaced(one.type, role, `messages.${at}.content.${i}`);
      });
      const last = entries.at(-1);
      if (last && isTurn(last)) entries[entries.length - 1] = { parts: [...last.parts, ...parts] };
      else entries.push({ parts });
      return;
    }
    let text = "";
    blocks.forEach((one, i) => {
      const param = `messages.${at}.content.${i}`;
      if (one.type === "text") text += one.text;
      else if (one.type !== "tool_result") misplaced(one.type, role, param);
      else if (called.has(one.tool_use_id)) {
        entries.push({ role: "tool", tool_call_id: one.tool_use_id, content: textOf(one.content) });
      } else {
        const id = one.tool_use_id.slice(0, 80);
        throw new ApiError(
          400,
          `unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${id}. Each \`tool_result\` block must have a \`tool_use\` block before it`,
          { param },
        );
      }
    });
    if (text !== "" || blocks.every(({ type }) => type !== "tool_result")) {
      entries.push({ role: "user", content: text });
    }
  });
  return entries;
}

function misplaced(type: string, role: string, param: string): never {
  throw new ApiError(400, `\`${type}\` blocks must not be in messages of the ${role}`, { param });
}

interface Asked {
  read: Body;
  entries: Entry[];
  chat: ChatBody;
  kept: ReturnType<typeof chatOf>["kept"];
  settings: Record<string, unknown>;
}

/** What a thread keeps beside its messages. */
const threadFields = ["system", "tools", "tool_choice", "output_config", "chat_template_kwargs"];

function chatOfRequest({ answers }: Handling, raw: Record<string, unknown>): Asked {
  const { type, id } = threadOf(raw);
  const previous = id === undefined ? undefined : answers.get(id);
  if (type === "continue" && !previous) {
    const message = `No thread was found for \`previous_message_id\` ${String(id).slice(0, 80)}; send the whole conversation`;
    throw new ApiError(404, message, { code: "thread_not_found" });
  }
  const read = readRequest(body, { ...previous?.settings, ...raw });
  const entries = entriesOf(read, previous ? [...previous.before, previous.turn] : []);
  const system = textOf(read.system, "\n\n");
  const first: Entry[] = system === "" ? [] : [{ role: "system", content: system }];
  const { messages, kept } = chatOf([...first, ...entries], answers);
  // An answer that the client began is gone on with; it is no answer of ours.
  const isOpen = messages.at(-1)!.role === "assistant";
  const settings = Object.fromEntries(
    threadFields.flatMap((name) => {
      const value = (read as Record<string, unknown>)[name];
      return value === undefined || value === null ? [] : [[name, value]];
    }),
  );
  return {
    ...{ read, entries, settings },
    kept: isOpen ? kept.filter(({ at }) => at < messages.length - 1) : kept,
    chat: asChat(read, messages, isOpen),
  };
}

function isThread(value: unknown): value is { type?: unknown; previous_message_id?: unknown } {
  return typeof value === "object" && value !== null;
}

/** What a request says of its thread. */
function threadOf({ thread }: Record<string, unknown>): { type?: string; id?: string } {
  if (!isThread(thread)) return {};
  const { type, previous_message_id: id } = thread;
  if (type === "create") return { type };
  if (type === "continue" && typeof id === "string") return { type, id };
  throw new ApiError(400, "thread.type must be create, or continue with a previous_message_id", {
    code: "thread_unsupported_request",
  });
}

function asChat(read: Body, messages: ChatBody["messages"], isOpen: boolean): ChatBody {
  const { tools, tool_choice: choice, output_config: config, stop_sequences: stop } = read;
  const { model, max_tokens, stream, temperature, top_p, top_k, seed } = read;
  const { type, ...schema } = config?.format ?? { type: "text" };
  const choices = { auto: "auto", any: "required", none: "none" } as const;
  const built = {
    ...{ model, messages, stream, temperature, top_p, top_k, seed },
    ...{ max_completion_tokens: max_tokens, stop: stop?.length === 0 ? undefined : stop },
    chat_template_kwargs: read.chat_template_kwargs,
    ...(isOpen ? { continue_final_message: true } : {}),
    ...(choice?.disable_parallel_tool_use ? { parallel_tool_calls: false } : {}),
    tools: tools?.map(({ name, description, input_schema: parameters, strict }) => ({
      type: "function",
      function: { name, ...defined({ description: description ?? undefined, strict }), parameters },
    })),
    tool_choice:
      choice?.type === "tool"
        ? { type: "function", function: { name: choice.name } }
        : choice && choices[choice.type],
    ...(type === "text"
      ? {}
      : { response_format: { type, json_schema: { name: "output", ...schema } } }),
  };
  return named(renamed, () => readRequest(chatBody, defined(built)));
}

const renamed = {
  response_format: "output_config.format",
  max_completion_tokens: "max_tokens",
  stop: "stop_sequences",
  function: "",
  parameters: "input_schema",
};

/** A part as a block. `begun`: nothing of it is written yet. */
function blockOf({ kind, text, id, callId, name }: Readonly<Part>, begun = false): object {
  if (kind === "text") return { type: "text", text: begun ? "" : text };
  if (kind === "thought") {
    const shown = begun ? { thinking: "", signature: "" } : { thinking: text, signature: id };
    return { type: "thinking", ...shown };
  }
  return { type: "tool_use", id: callId, name, input: begun ? {} : inputOf(text) };
}

function idsOf(kind: Part["kind"]): Pick<Part, "id" | "callId"> {
  if (kind === "call") return { callId: freshId("toolu") };
  return kind === "thought" ? { id: freshId("sig") } : {};
}

function messageView(
  { response, model, answers }: Handling,
  { entries, settings, read }: Asked,
  { prompt, text, request, number }: BegunChat,
): ChatView {
  const id = freshId("msg");
  const stream = request.stream ? new EventStream(response) : undefined;
  const send = (type: string, data: object) => stream?.send({ type, ...data }, type);
  const about = { id, type: "message", role: "assistant", model };
  const usage = {
    ...{ input_tokens: prompt.length, output_tokens: 0 },
    ...{ cache_creation_input_tokens: 0, cache_read_input_tokens: 0 },
  };
  const reader = new PartReader(text, idsOf, {
    begun: (part, index) =>
      send("content_block_start", { index, content_block: blockOf(part, true) }),
    more: ({ kind }, index, more) => {
      const delta = {
        text: { type: "text_delta", text: more },
        thought: { type: "thinking_delta", thinking: more },
        call: { type: "input_json_delta", partial_json: JSON.stringify(inputOf(more)) },
      }[kind];
      send("content_block_delta", { index, delta });
    },
    ended: ({ kind, id: signature }, index) => {
      const delta = { type: "signature_delta", signature };
      if (kind === "thought") send("content_block_delta", { index, delta });
      send("content_block_stop", { index });
    },
  });
  return {
    opened: () => {
      const none = { content: [], stop_reason: null, stop_sequence: null };
      send("message_start", { message: { ...about, ...none, usage } });
    },
    ...keptView(reader, prompt, (kept) =>
      answers.add({ ...kept, id, before: entries, settings, ...defined({ number }) }),
    ),
    done: ([finished], { completion_tokens: output_tokens }) => {
      const { segment, calls } = finished!;
      const own = segment.stop !== undefined && read.stop_sequences?.includes(segment.stop);
      const reason = () => {
        if (finishReason(segment.finish) === "length") return "max_tokens";
        if (own) return "stop_sequence";
        return calls.length > 0 ? "tool_use" : "end_turn";
      };
      const ending = { stop_reason: reason(), stop_sequence: own ? segment.stop : null };
      if (stream) {
        send("message_delta", { delta: ending, usage: { ...usage, output_tokens } });
        send("message_stop", {});
        stream.close();
        return;
      }
      const content = reader.parts.map((part) => blockOf(part));
      const whole = { ...about, content, ...ending, usage: { ...usage, output_tokens } };
      response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(whole));
    },
  };
}

async function create(handling: Handling, raw: Record<string, unknown>): Promise<void> {
  const asked = chatOfRequest(handling, raw);
  const { chat, kept } = asked;
  try {
    await answerChat(handling, chat, (begun) => messageView(handling, asked, begun), kept);
  } catch (error) {
    named(renamed, () => {
      throw error;
    });
  }
}

async function countTokens(handling: Handling, raw: Record<string, unknown>): Promise<object> {
  const { chat, kept } = chatOfRequest(handling, { max_tokens: 1, ...raw });
  return { input_tokens: await countPrompt(handling, chat, kept) };
}

/** Anthropic's words for a status. */
const kinds: Readonly<Record<number, string>> = {
  ...{ 401: "authentication_error", 403: "permission_error", 404: "not_found_error" },
  ...{ 413: "request_too_large", 429: "rate_limit_error", 503: "overloaded_error" },
};

function refused({ status, message, code, param }: ApiError): object {
  const type = kinds[status] ?? (status < 500 ? "invalid_request_error" : "api_error");
  const place = param !== null && !message.includes(param) ? `${param}: ` : "";
  const unsupported = code === "thread_unsupported_request" ? { unsupported: ["thread"] } : {};
  const details = code?.startsWith("thread_")
    ? { details: { error_code: code, ...unsupported } }
    : {};
  const error = { type, message: place + message, ...details };
  return { type: "error", error, request_id: freshId("req") };
}

/** Anthropic's Messages. */
export const messages: WireDialect = {
  name: "Messages",
  posts: { "/v1/messages": create, "/v1/messages/count_tokens": countTokens },
  refused,
  broken: (error) => ({ event: "error", data: refused(error) }),
};
