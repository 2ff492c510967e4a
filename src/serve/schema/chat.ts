import { z } from "#zod";
import { commonFields, MAX_TOP, neutral } from "./common.js";

const textPart = z.looseObject({ type: z.literal("text"), text: z.string() });
const content = z.union([z.string(), z.array(textPart)]).nullish();

/** A call of a function, as OpenAI writes it: the arguments are JSON in a string. */
const toolCall = z.looseObject({
  id: z.string().nullish(),
  type: z.literal("function").nullish(),
  function: z.looseObject({ name: z.string(), arguments: z.string().nullish() }),
});
const message = z.looseObject({
  role: z.enum(["system", "developer", "user", "assistant", "tool"]),
  content,
  name: z.string().nullish(),
  tool_calls: z.array(toolCall).nullish(),
  tool_call_id: z.string().nullish(),
});
const tool = z.looseObject({
  type: z.literal("function"),
  function: z.looseObject({
    name: z.string().regex(/^[a-zA-Z0-9_-]{1,64}$/),
    description: z.string().nullish(),
    parameters: z.looseObject({}).nullish(),
  }),
});
export type RequestMessage = z.infer<typeof message>;
export type RequestTool = z.infer<typeof tool>;

/** The body of `/v1/chat/completions`. */
export const chatBody = z.object({
  ...commonFields,
  messages: z.array(message).min(1),
  max_completion_tokens: z.int().min(0).nullish(),
  logprobs: z.boolean().nullish(),
  top_logprobs: z.int().min(0).max(MAX_TOP).nullish(),
  tools: z.array(tool).nullish(),
  tool_choice: z
    .union([
      z.enum(["none", "auto", "required"]),
      z.looseObject({
        type: z.literal("function"),
        function: z.looseObject({ name: z.string() }),
      }),
    ])
    .nullish(),
  parallel_tool_calls: z.boolean().nullish(),

  // Extensions.
  continue_final_message: z.boolean().nullish(),
  add_generation_prompt: z.boolean().nullish(),
  chat_template_kwargs: z.record(z.string(), z.unknown()).nullish(),

  // Of no effect: a model has no effort to choose.
  reasoning_effort: z.unknown().optional(),

  // Not supported.
  response_format: neutral(
    (value) => (value as { type?: unknown }).type === "text",
    '{"type": "text"}',
    "; decoding is not constrained to JSON: describe the format in a message, or give a function in 'tools'",
  ),
  modalities: neutral((value) => JSON.stringify(value) === '["text"]', '["text"]'),
  audio: neutral(() => false, "null"),
  verbosity: neutral((value) => value === "medium", "medium"),
  functions: neutral(() => false, "null (see tools)"),
  function_call: neutral(() => false, "null (see tool_choice)"),
});
export type ChatBody = z.infer<typeof chatBody>;
