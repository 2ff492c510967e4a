import { z } from "#zod";
import { nearest } from "../../../../common/options/nearest.js";
import type { Sampling } from "../../../policy/policy.js";
import type { RandomState } from "../../../base/random/random.js";
import { ApiError } from "../http/api-error.js";
import { randomInt } from "node:crypto";

/** The most alternatives a token can be asked for, as at OpenAI. */
export const MAX_TOP = 20;

/** Only what changes nothing is taken of a field that is not supported. */
const neutral = (test: (value: unknown) => boolean, only: string, instead = "") =>
  z
    .unknown()
    .refine((value) => value === null || value === undefined || test(value), {
      message: `only ${only} is supported here${instead}`,
    })
    .optional();
const flag = z.boolean().nullish();
const empty = (value: unknown) => Object.keys(value as object).length === 0;

/** Fields that both interfaces share: OpenAI's, and the extensions that vLLM made common. */
export const commonFields = {
  model: z.string(),
  n: z.int().min(1).max(128).nullish(),
  seed: z.int().nullish(),
  stop: z.union([z.string().min(1), z.array(z.string().min(1)).max(64)]).nullish(),
  stream: flag,
  stream_options: z.looseObject({ include_usage: flag, include_obfuscation: flag }).nullish(),
  temperature: z.number().min(0).max(100).nullish(),
  top_p: z.number().gt(0).max(1).nullish(),
  max_tokens: z.int().min(0).nullish(),

  // Extensions.
  top_k: z.int().min(-1).nullish(),
  min_p: z.number().min(0).max(1).nullish(),
  repetition_penalty: z.number().gt(0).max(100).nullish(),
  allowed_token_ids: z.array(z.int().min(0)).min(1).nullish(),
  include_stop_str_in_output: flag,
  skip_special_tokens: flag,
  return_tokens_as_token_ids: flag,
  return_token_ids: flag,
  return_entropies: flag,
  random_state: z
    .strictObject({
      key: z.tuple([z.int().min(0).max(0xffffffff), z.int().min(0).max(0xffffffff)]),
      position: z.int().min(0),
    })
    .nullish(),
  add_special_tokens: neutral((value) => value === false, "false"),

  // Of no effect on what is generated.
  user: z.unknown().optional(),
  metadata: z.unknown().optional(),
  store: z.unknown().optional(),
  service_tier: z.unknown().optional(),
  safety_identifier: z.unknown().optional(),
  prompt_cache_key: z.unknown().optional(),

  // Not supported.
  frequency_penalty: neutral((value) => value === 0, "0"),
  presence_penalty: neutral((value) => value === 0, "0"),
  logit_bias: neutral(empty, "an empty bias"),
};
type Common = z.infer<z.ZodObject<typeof commonFields>>;

/** Refuses a value of a field that is not supported, unless it is the one that changes nothing. */
export { neutral };

type Issue = z.core.$ZodIssue;

/** Of a choice of forms, what is wrong in the one that fits furthest; the choice itself where none fits more than it. */
function innermost(issue: Issue): Issue {
  if (issue.code !== "invalid_union") return issue;
  const inside = issue.errors
    .flatMap((issues) => issues.slice(0, 1))
    .map((one) => innermost(one))
    .filter(({ path }) => path.length > 0)
    .sort((a, b) => b.path.length - a.path.length)[0];
  if (inside) return { ...inside, path: [...issue.path, ...inside.path] };
  const forms = issue.errors.map(([first]) => first?.message.replace("Invalid input: ", ""));
  return issue.message === "Invalid input" && forms.length > 0
    ? { ...issue, message: `${issue.message}: ${forms.join("; or ")}` }
    : issue;
}

/** Reads a body; what is wrong with it is told in OpenAI's shape, with the field it is about. */
export function readRequest<T extends z.ZodObject>(
  schema: T,
  body: Record<string, unknown>,
): z.infer<T> {
  const known = Object.keys(schema.shape);
  for (const name of Object.keys(body)) {
    if (known.includes(name)) continue;
    const near = nearest(name, known);
    throw new ApiError(
      400,
      `Unrecognized request argument: ${name}${near === undefined ? "" : `; did you mean ${near}?`}`,
      { param: name, code: "unknown_parameter" },
    );
  }
  const read = schema.safeParse(body);
  if (read.success) return read.data;
  const issue = innermost(read.error.issues[0]!);
  const param = issue.path.join(".");
  throw new ApiError(400, `Invalid value for '${param}': ${issue.message}.`, {
    param,
    code: param in body || issue.path.length > 1 ? "invalid_value" : "missing_required_parameter",
  });
}

/** How choices are to be generated and shown. */
export interface GenerationRequest {
  model: string;
  n: number;
  sampling: Sampling;
  seed: number;
  /** Instead of a seed: the very stream to draw from. */
  randomState?: RandomState;
  stop: readonly string[];
  includeStop: boolean;
  skipSpecial: boolean;
  stream: boolean;
  includeUsage: boolean;
  /** Report every token, those too whose text is not shown. */
  allTokens: boolean;
  asIds: boolean;
  returnIds: boolean;
  returnEntropies: boolean;
}

/** The shared part of a request, with what was not said filled in. */
export function generationRequest(body: Common): GenerationRequest {
  const { stop } = body;
  const returnIds = body.return_token_ids ?? false;
  const asIds = body.return_tokens_as_token_ids ?? false;
  if (body.stream_options && !body.stream) {
    throw new ApiError(400, "'stream_options' is only for requests with 'stream': true.", {
      param: "stream_options",
    });
  }
  return {
    model: body.model,
    n: body.n ?? 1,
    sampling: {
      temperature: body.temperature ?? 1,
      topP: body.top_p ?? 1,
      topK: body.top_k ? body.top_k : -1,
      minP: body.min_p ?? 0,
      repetitionPenalty: body.repetition_penalty ?? 1,
      ...(body.allowed_token_ids ? { allowedIds: body.allowed_token_ids } : {}),
    },
    seed: body.seed ?? randomInt(2 ** 48 - 1),
    ...(body.random_state ? { randomState: body.random_state } : {}),
    stop: typeof stop === "string" ? [stop] : (stop ?? []),
    includeStop: body.include_stop_str_in_output ?? false,
    skipSpecial: body.skip_special_tokens ?? true,
    stream: body.stream ?? false,
    includeUsage: body.stream_options?.include_usage ?? false,
    allTokens: returnIds || asIds,
    asIds,
    returnIds,
    returnEntropies: body.return_entropies ?? false,
  };
}

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
    strict: z.boolean().nullish(),
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
  response_format: z
    .discriminatedUnion(
      "type",
      [
        z.looseObject({ type: z.literal("text") }),
        z.looseObject({ type: z.literal("json_object") }),
        z.looseObject({
          type: z.literal("json_schema"),
          json_schema: z.looseObject({
            name: z.string().nullish(),
            schema: z.union([z.boolean(), z.looseObject({})]).nullish(),
          }),
        }),
      ],
      { error: "an object of type text, json_object or json_schema" },
    )
    .nullish(),

  // Extensions.
  continue_final_message: z.boolean().nullish(),
  add_generation_prompt: z.boolean().nullish(),
  chat_template_kwargs: z.record(z.string(), z.unknown()).nullish(),

  // Of no effect: a model has no effort to choose.
  reasoning_effort: z.unknown().optional(),

  // Not supported.
  modalities: neutral((value) => JSON.stringify(value) === '["text"]', '["text"]'),
  audio: neutral(() => false, "null"),
  verbosity: neutral((value) => value === "medium", "medium"),
  functions: neutral(() => false, "null (see tools)"),
  function_call: neutral(() => false, "null (see tool_choice)"),
});
export type ChatBody = z.infer<typeof chatBody>;
