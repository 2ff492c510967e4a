// What a Tinker server answers, as far as it is read here. Servers differ in what they say besides.
import { z } from "#zod";

const numbers = z.union([
  z.array(z.number()),
  z.looseObject({ data: z.array(z.number()) }).transform(({ data }) => data),
]);

export const session = z.looseObject({
  session_id: z.string(),
  info_message: z.string().nullish(),
  warning_message: z.string().nullish(),
  error_message: z.string().nullish(),
});
export const future = z.looseObject({
  request_id: z.union([z.string(), z.number()]).transform(String),
});
export const created = z.looseObject({ model_id: z.string() });
export const samplingSession = z.looseObject({ sampling_session_id: z.string() });
export const capabilities = z.looseObject({
  supported_models: z.array(
    z.looseObject({
      model_name: z.string().nullish(),
      max_context_length: z.number().nullish(),
      trainable: z.boolean().nullish(),
    }),
  ),
});
export const passed = z.looseObject({
  loss_fn_output_type: z.string().nullish(),
  loss_fn_outputs: z.array(z.looseObject({ logprobs: numbers.optional() })),
  metrics: z.record(z.string(), z.number()).nullish(),
});
export const stepped = z.looseObject({ metrics: z.record(z.string(), z.number()).nullish() });
export const saved = z.looseObject({
  path: z.string().nullish(),
  sampling_session_id: z.string().nullish(),
});

const alternatives = z.array(z.tuple([z.number().int(), z.number()]));
export const sampled = z.looseObject({
  sequences: z
    .array(
      z.looseObject({
        stop_reason: z.string().nullish(),
        tokens: z.array(z.number().int()),
        logprobs: z.array(z.number()).nullish(),
        topk_logprobs: z.array(alternatives.nullable()).nullish(),
      }),
    )
    .min(1),
  prompt_logprobs: z.array(z.number().nullable()).nullish(),
});
export type Sampled = z.infer<typeof sampled>["sequences"][number];
export type Passed = z.infer<typeof passed>;
