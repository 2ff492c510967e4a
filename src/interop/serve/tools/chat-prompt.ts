import { joined, meant, plain } from "../../../model/tokenizer/special-tokens.js";
import type { ChatMessage, ChatOptions, TextPart } from "../../../model/tokenizer/tokenizer.js";
import { ApiError } from "../http/api-error.js";
import { exampleFunction } from "../../../tools/calls/call-format.js";
import type { CallDialect } from "../../../tools/calls/dialects/definition.js";
import { dialectShown } from "../../../tools/calls/dialects/registry.js";
import { tags } from "../../../tools/calls/dialects/tags.js";
import { asObject } from "../../../tools/calls/dialects/json-call.js";
import type { ChatBody, RequestMessage, RequestTool } from "../schema/common.js";
import { type ToolFormat, toolFormat } from "./tool-format.js";

/** What makes a prompt of a chat, at once or later. */
interface ChatRenderer {
  chat(messages: readonly ChatMessage[], options: ChatOptions): string | Promise<string>;
  chatParts?(
    messages: readonly ChatMessage[],
    options: ChatOptions,
  ): readonly TextPart[] | Promise<readonly TextPart[]>;
}

/** What a chat request asks the model to continue. */
export interface ChatPrompt {
  text: string;
  /** The same in parts: special tokens are the template's own, never a client's. */
  parts: readonly TextPart[];
  /** How calls are written, if functions may be called. */
  format?: ToolFormat;
  /** The beginning of a call that was asked for; the text ends with it. */
  prefix: string;
  /** What the model's text must begin with, one of them: a call of any function was requested. */
  beginnings: readonly string[];
  /** The function that was requested by name. */
  forced?: string;
}

/** A message's text; parts are joined as they are. */
function textOf({ content }: RequestMessage): string {
  if (typeof content === "string") return content;
  return (content ?? []).map(({ text }) => text).join("");
}

/** Messages as templates read them. */
function forTemplate(messages: readonly RequestMessage[]): ChatMessage[] {
  return messages.map((message) => ({
    role: message.role === "developer" ? "system" : message.role,
    content: textOf(message),
    ...(message.name ? { name: message.name } : {}),
    ...(message.tool_call_id ? { tool_call_id: message.tool_call_id } : {}),
    ...(message.tool_calls
      ? {
          tool_calls: message.tool_calls.map(({ id, function: called }) => ({
            ...(id ? { id } : {}),
            type: "function",
            function: {
              name: called.name,
              arguments: asObject(called.arguments ?? "") ?? called.arguments ?? {},
            },
          })),
        }
      : {}),
  }));
}

/**
 * Messages where calls and results stand in the assistant's own text. `open`: the last message is to be gone
 * on with.
 */
function inOneText(
  messages: readonly RequestMessage[],
  words: NonNullable<CallDialect["inText"]>,
): { folded: ChatMessage[]; open: boolean } {
  const folded: ChatMessage[] = [];
  for (const message of messages) {
    const { role } = message;
    const last = folded.at(-1);
    let text = textOf(message);
    for (const { function: called } of message.tool_calls ?? []) {
      text += words.call(called.name, called.arguments ?? "");
    }
    if (role === "tool") text = words.result(text);
    const own = role === "tool" || role === "assistant";
    if (own && last?.role === "assistant") last.content += text;
    else if (role === "tool") {
      throw new ApiError(400, "A 'tool' message must follow the assistant's call.", {
        param: "messages",
      });
    } else folded.push({ role: role === "developer" ? "system" : role, content: text });
  }
  return { folded, open: messages.at(-1)!.role === "tool" };
}

/** Which function must be called, if any must. */
function choiceOf({ tools, tool_choice: choice }: ChatBody): {
  tools: readonly RequestTool[];
  forced: boolean;
  name?: string;
} {
  const given = tools ?? [];
  if (given.length === 0) {
    if (choice !== null && choice !== undefined && choice !== "none" && choice !== "auto") {
      throw new ApiError(400, "'tool_choice' needs 'tools'.", { param: "tool_choice" });
    }
    return { tools: [], forced: false };
  }
  if (choice === "none") return { tools: [], forced: false };
  if (typeof choice !== "object" || choice === null) {
    return { tools: given, forced: choice === "required" };
  }
  const { name } = choice.function;
  if (given.some((tool) => tool.function.name === name))
    return { tools: given, forced: true, name };
  throw new ApiError(400, `'tool_choice' must name one of the tools, got ${name}.`, {
    param: "tool_choice",
  });
}

/** Turns the messages and tools of a request into the text the model is to go on with. */
export async function chatPrompt(tokenizer: ChatRenderer, body: ChatBody): Promise<ChatPrompt> {
  const { tools, forced, name } = choiceOf(body);
  const options: ChatOptions = {
    ...(body.chat_template_kwargs ? { variables: body.chat_template_kwargs } : {}),
  };
  const render = async (
    messages: readonly ChatMessage[],
    more: ChatOptions,
  ): Promise<readonly TextPart[]> => {
    try {
      const all = { ...options, ...more };
      const laid = await tokenizer.chatParts?.(messages, all);
      return laid ?? [meant(await tokenizer.chat(messages, all))];
    } catch (error) {
      if (error instanceof ApiError) throw error;
      throw new ApiError(400, (error as Error).message, { param: "messages" });
    }
  };
  const messages = forTemplate(body.messages);
  const generation = body.add_generation_prompt ?? true;
  const called = body.messages.some((m) => m.role === "tool" || (m.tool_calls?.length ?? 0) > 0);
  // A template that shows its model no tools leaves the tags it was trained on.
  const user = [{ role: "user", content: "?" }];
  const withTools = { tools: tools.length > 0 ? tools : [exampleFunction] };
  const shown = tools.length === 0 && !called ? "" : joined(await render(user, withTools));
  const bare = joined(await render(user, {}));
  const dialect = (shown === bare ? undefined : dialectShown(shown)) ?? tags;
  const { inText } = dialect;
  const single = forced || body.parallel_tool_calls === false;
  const format = tools.length > 0 ? toolFormat(dialect, tools, single) : undefined;
  const named = name ?? (tools.length === 1 ? tools[0]!.function.name : undefined);
  const prefix = forced ? format!.prefix(named) : "";
  const beginnings = forced && named === undefined ? format!.beginnings : [];
  const { folded, open } = inText
    ? inOneText(body.messages, inText)
    : { folded: messages, open: false };
  const laid =
    open || body.continue_final_message
      ? await continued(folded, (more, add) =>
          render(more, { ...toolsFor(), addGenerationPrompt: add }),
        )
      : await render(folded, { ...toolsFor(), addGenerationPrompt: generation });
  const parts = [...laid, meant(prefix)];
  return {
    text: joined(parts),
    parts,
    format,
    prefix,
    beginnings,
    forced: forced ? named : undefined,
  };

  function toolsFor(): ChatOptions {
    return tools.length > 0 && !inText ? { tools } : {};
  }
}

/** The prompt that ends in the middle of the assistant's message. */
async function continued(
  messages: readonly ChatMessage[],
  render: (
    messages: readonly ChatMessage[],
    addGenerationPrompt: boolean,
  ) => Promise<readonly TextPart[]>,
): Promise<readonly TextPart[]> {
  const last = messages.at(-1)!;
  if (last.role !== "assistant") {
    throw new ApiError(400, "'continue_final_message' needs an assistant's message at the end.", {
      param: "continue_final_message",
    });
  }
  return [...(await render(messages.slice(0, -1), true)), plain(last.content)];
}
