import { z } from "#zod";

/** What a sidecar process of a verl worker is told: `sidecar.json` of the job folder. */
export const sidecarFile = z.strictObject({
  /** The part `tools` of a configuration, with those alone that run here. */
  tools: z.strictObject({
    ...{ max_workers: z.number(), timeout: z.number(), retry_count: z.number() },
    tool_instances: z.record(
      z.string(),
      z.strictObject({
        class_path: z.string(),
        params: z.record(z.string(), z.unknown()).nullish(),
      }),
    ),
  }),
  /** Null where verl scores in Python. */
  reward: z.strictObject({ path: z.string(), name: z.string() }).nullable(),
});

/** @see {@link sidecarFile} */
export type SidecarFile = z.infer<typeof sidecarFile>;
