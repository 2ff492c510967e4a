import { z } from "#zod";
import type { Handling } from "./handler.js";
import { ApiError } from "./http/api-error.js";
import { refuseLongText } from "./refuse-oversized.js";
import { chatBody, neutral, readRequest } from "./schema/common.js";
import { chatPrompt } from "./tools/chat-prompt.js";

const { messages, tools, continue_final_message, add_generation_prompt, chat_template_kwargs } =
  chatBody.shape;

const toTokens = z.object({
  model: z.string().nullish(),
  prompt: z.string().optional(),
  messages: messages.optional(),
  add_special_tokens: neutral((value) => value === false, "false"),
  return_token_strs: z.boolean().nullish(),
  ...{ tools, continue_final_message, add_generation_prompt, chat_template_kwargs },
});

const toText = z.object({ model: z.string().nullish(), tokens: z.array(z.int().min(0)) });

function checkName({ model, anyModel }: Handling, asked: string | null | undefined): void {
  if (anyModel || !asked || asked === model) return;
  throw new ApiError(404, `The model '${asked}' does not exist; this is '${model}'.`, {
    param: "model",
    code: "model_not_found",
  });
}

/** `POST /tokenize`, as vLLM has it: the ids of a text, or of a chat as the model's template lays it out. */
export async function tokenize(handling: Handling, raw: Record<string, unknown>): Promise<object> {
  const { policy, model, texts } = handling;
  const { prompt, messages: chat, return_token_strs: named, ...read } = readRequest(toTokens, raw);
  checkName(handling, read.model);
  if ((prompt === undefined) === (chat === undefined)) {
    throw new ApiError(400, "One of 'prompt' and 'messages' must be given.", { param: "prompt" });
  }
  const laid = chat && (await chatPrompt(texts, { ...read, model, messages: chat }));
  if (laid) refuseLongText(policy, laid.text, "messages");
  const tokens = await texts.encode(laid?.parts ?? prompt!);
  const strings = () => tokens.map((id) => policy.tokenizer.decode([id], { skipSpecial: false }));
  return {
    ...{ tokens, count: tokens.length, max_model_len: policy.contextLength },
    token_strs: named ? strings() : null,
  };
}

/** `POST /detokenize`, as vLLM has it: the text of ids, special tokens included. */
export async function detokenize(
  handling: Handling,
  raw: Record<string, unknown>,
): Promise<object> {
  const { tokenizer } = handling.policy;
  const { model, tokens } = readRequest(toText, raw);
  checkName(handling, model);
  const wrong = tokens.find((id) => id >= tokenizer.vocabSize);
  if (wrong !== undefined) {
    throw new ApiError(400, `Token ids must be below ${tokenizer.vocabSize}, got ${wrong}.`, {
      param: "tokens",
    });
  }
  return { prompt: tokenizer.decode(tokens, { skipSpecial: false }) };
}
