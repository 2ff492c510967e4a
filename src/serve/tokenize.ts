import { z } from "#zod";
import { ApiError } from "./http/api-error.js";
import type { Handling } from "./handler.js";
import { neutral, readRequest } from "./schema/common.js";

const body = z.object({
  model: z.string().nullish(),
  prompt: z.string(),
  add_special_tokens: neutral((value) => value === false, "false"),
});

/** `POST /tokenize`, as vLLM has it. */
export async function tokenize(
  { policy, model, anyModel, texts }: Handling,
  raw: Record<string, unknown>,
): Promise<object> {
  const read = readRequest(body, raw);
  if (!anyModel && read.model && read.model !== model) {
    throw new ApiError(404, `The model '${read.model}' does not exist; this is '${model}'.`, {
      param: "model",
      code: "model_not_found",
    });
  }
  const tokens = await texts.encode(read.prompt);
  return { tokens, count: tokens.length, max_model_len: policy.contextLength };
}
