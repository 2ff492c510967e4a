import { randomUUID } from "node:crypto";
import { z } from "#zod";
import { generateChoice } from "./choice.js";
import {
  checkModel,
  finishReason,
  type Handling,
  remainingContext,
  together,
  usageOf,
  withRows,
} from "./handler.js";
import { ApiError } from "./http/api-error.js";
import { commonFields, generationRequest, MAX_TOP, neutral, readRequest } from "./schema/common.js";

/** `sampling_params` of vLLM. */
const samplingParams = z.object({
  ...commonFields,
  model: z.string().optional(),
  logprobs: z.int().min(0).max(MAX_TOP).nullish(),
  stop_token_ids: z.array(z.int().min(0)).max(64).nullish(),
  min_tokens: neutral((value) => value === 0, "0"),
  ignore_eos: neutral((value) => value === false, "false"),
});

const body = z.object({
  model: z.string().nullish(),
  token_ids: z.array(z.int().min(0)).min(1),
  sampling_params: z.looseObject({}).nullish(),
  stream: neutral((value) => value === false, "false"),
  request_id: z.string().nullish(),
  return_token_ids: z.boolean().nullish(),

  // Of no effect on what is generated.
  cache_salt: z.unknown().optional(),
  priority: z.unknown().optional(),

  // Not supported.
  features: neutral(() => false, "null", ": the model reads text"),
  content_parts: neutral(() => false, "null", ": the model reads text"),
});

/** Texts that stand for end tokens which are not the model's own; each is one token and nothing else. */
function stopsOf(ids: readonly number[], { policy: { tokenizer } }: Handling): string[] {
  return ids.flatMap((id) => {
    if (tokenizer.eosIds.includes(id)) return [];
    const text = id < tokenizer.vocabSize ? tokenizer.decode([id], { skipSpecial: false }) : "";
    const [again, ...more] = text === "" ? [] : tokenizer.encode(text);
    if (again === id && more.length === 0) return [text];
    throw new ApiError(
      400,
      `The model cannot stop at token ${id}: it is no token of its own text.`,
      {
        param: "sampling_params.stop_token_ids",
      },
    );
  });
}

/**
 * `POST /inference/v1/generate`, as vLLM has it: ids in, ids and their log-probs out. Training clients that
 * render prompts themselves (verifiers, prime-rl) ask here.
 */
export async function generate(handling: Handling, raw: Record<string, unknown>): Promise<void> {
  const { policy, response, signal } = handling;
  const read = readRequest(body, raw);
  const params = readRequest(samplingParams, { ...read.sampling_params });
  const request = generationRequest({ ...params, model: read.model ?? handling.model });
  checkModel(handling, request);
  const prompt = read.token_ids;
  const capacity = remainingContext(policy, prompt, "token_ids");
  const maxTokens = Math.min(params.max_tokens ?? capacity, capacity);
  if (maxTokens < 1) {
    throw new ApiError(400, "At least one token must be asked for.", {
      param: "sampling_params.max_tokens",
    });
  }
  const ownStops = stopsOf(params.stop_token_ids ?? [], handling);
  await withRows(handling, [prompt], request.n, async (rows) => {
    const done = await together(
      signal,
      rows.map(
        ({ session, row, index }) =>
          async (either) =>
            await generateChoice(session, row, policy.tokenizer, {
              ...{ request, index, maxTokens, ownStops, signal: either },
            }),
      ),
    );
    const choices = done.map(({ segment }, index) => ({
      index,
      token_ids: [...segment.tokens],
      finish_reason: finishReason(segment.finish),
      stop_reason: segment.stop ?? null,
      // A client counts on one entry for each id, with a finite number.
      logprobs: {
        content: Array.from(segment.tokens, (id, i) => ({
          token: `token_id:${id}`,
          logprob: Math.max(segment.logprobs[i]!, -9999),
          top_logprobs: [],
        })),
      },
      ...(request.returnEntropies ? { entropies: [...segment.entropies] } : {}),
    }));
    const count = done.reduce((sum, { segment }) => sum + segment.tokens.length, 0);
    const about = { request_id: read.request_id ?? `gen-${randomUUID()}` };
    response.writeHead(200, { "content-type": "application/json" }).end(
      JSON.stringify({
        ...about,
        prompt_token_ids: prompt,
        choices,
        usage: usageOf(prompt.length, count),
      }),
    );
  });
}
