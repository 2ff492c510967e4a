import { z } from "#zod";

/** Where a job stands, as the laptop knows it. */
const jobStates = [
  "written", // kept here, not sent yet, or nobody knows whether it arrived
  "PENDING",
  "RUNNING",
  "STOPPED",
  "SUCCEEDED",
  "FAILED",
  "lost", // the cluster knows nothing of it (any more)
] as const;

/** One of `jobStates`. */
export type JobState = (typeof jobStates)[number];

/** Everything that is needed to send a job, find it again, and send it once more. */
export const jobRecord = z.strictObject({
  id: z.string(),
  /** The run that this is an attempt of. */
  run: z.string(),
  attempt: z.number().int().min(1),
  address: z.string(),
  tokenEnv: z.string().optional(),
  /** Name of the package among those kept here. */
  package: z.string(),
  /** What trains there. Left out: this package. */
  engine: z.literal("verl").optional(),
  /** What stands for arpo-lab itself in the run script. */
  lab: z.string(),
  /** The run folder there: a path, or `log:NAME` below the node's log folder. */
  out: z.string(),
  pip: z.array(z.string()).optional(),
  cpus: z.number().optional(),
  gpus: z.number().optional(),
  sweep: z.string().optional(),
  /** What the run changes in its experiment, for tables. */
  settings: z.record(z.string(), z.string()),
  state: z.enum(jobStates),
  message: z.string().optional(),
  /** The node that it ran on last. */
  node: z.string().optional(),
  /** When it was written, in milliseconds. */
  at: z.number(),
});

/** A job as it is kept. */
export type JobRecord = z.infer<typeof jobRecord>;

/** Whether a job in this state does nothing any more. */
export const isOver = (state: JobState): boolean =>
  state === "STOPPED" || state === "SUCCEEDED" || state === "FAILED" || state === "lost";
