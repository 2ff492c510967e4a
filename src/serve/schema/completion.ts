import { z } from "#zod";
import { commonFields, MAX_TOP, neutral } from "./common.js";

const ids = z.array(z.int().min(0)).min(1);

/** The body of `/v1/completions`. */
export const completionBody = z.object({
  ...commonFields,
  prompt: z.union([z.string(), z.array(z.string()).min(1), ids, z.array(ids).min(1)]),
  echo: z.boolean().nullish(),
  logprobs: z.int().min(0).max(MAX_TOP).nullish(),
  best_of: z.int().nullish(),
  suffix: neutral((value) => value === "", "an empty suffix"),
});
export type CompletionBody = z.infer<typeof completionBody>;
