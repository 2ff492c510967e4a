import { checkArguments } from "../../../common/options/check-arguments.js";
import type { Scored } from "../../reward/scored.js";
import { requireFinite } from "../masked.js";
import type { PreparedSequence, ScoredSequence } from "../batch.js";
import type { Model } from "../../model/transformer/transformer.js";
import type { Policy } from "../../policy/policies.js";

/** A policy that is asked and not trained: a model in memory, or anything that says log-probabilities. */
export type Reference = Model | Required<Pick<Policy, "logProbs">>;

/** A teacher that reads something else before a trajectory's tokens: self-distillation, where it is the same model. */
export interface PrivilegedTeacher {
  /**
   * The tokens of the prompt that the teacher reads in place of each trajectory's own; undefined for one that it has
   * nothing to say of. `scored` is what the batch was made of, where it says so.
   */
  prompts(
    sequences: readonly (ScoredSequence & Partial<PreparedSequence>)[],
    scored: Scored | undefined,
  ): readonly (ArrayLike<number> | undefined)[];
  /** Who reads it. Default: the policy that trains, as it is before the update. */
  policy?: Reference;
}

/** Who says how likely a trajectory's tokens should be. */
export type Teacher = Reference | PrivilegedTeacher;

/** Sequences and what somebody says of their tokens. */
type Asked = Pick<PreparedSequence, "trajectory">;
type Measure = (
  sequences: readonly Asked[],
  model: Reference | undefined,
) => Promise<{ logprobs: readonly Float32Array[]; distributions?: readonly Float32Array[] }>;

const isPrivileged = (teacher: Teacher): teacher is PrivilegedTeacher =>
  typeof (teacher as Partial<PrivilegedTeacher>).prompts === "function";

/** A trajectory behind another prompt. */
function behind<S extends Asked>(sequence: S, prompt: ArrayLike<number>): S {
  return {
    ...sequence,
    trajectory: { ...sequence.trajectory, prompt: Int32Array.from(Array.from(prompt)) },
  };
}

/**
 * Asks a teacher for the log-probabilities of trajectories' tokens and writes them there; a trajectory that it has nothing
 * to say of has none. What it says of a token that the model wrote must be finite.
 */
export async function askTeacher(
  sequences: readonly PreparedSequence[],
  teacher: Teacher,
  measure: Measure,
  scored?: Scored,
): Promise<void> {
  checkArguments("update", { teacher }, { teacher: "object" });
  const privileged = isPrivileged(teacher) ? teacher : undefined;
  const prompts = privileged
    ? privileged.prompts(sequences, scored)
    : sequences.map(({ trajectory }) => trajectory.prompt);
  checkArguments("update", { prompts }, { prompts: "list" });
  const asked = sequences.flatMap((sequence, i) => {
    delete sequence.teacherLogprobs;
    delete sequence.teacherDistributions;
    const prompt = prompts[i];
    return prompt === undefined ? [] : [{ sequence, asked: behind(sequence, prompt) }];
  });
  if (asked.length === 0) return;
  const { logprobs, distributions } = await measure(
    asked.map((one) => one.asked),
    privileged ? privileged.policy : (teacher as Reference),
  );
  requireFinite("update", "what the teacher says", logprobs, {
    mask: asked.map(({ sequence }) => sequence.trajectory.lossMask),
    nameOf: (i) => `trajectory ${asked[i]!.sequence.trajectory.id} of ${asked[i]!.sequence.group}`,
  });
  asked.forEach(({ sequence }, i) => {
    const { lossMask } = sequence.trajectory;
    sequence.teacherLogprobs = logprobs[i]!.map((p, t) => (lossMask[t] ? p : 0));
    if (distributions) sequence.teacherDistributions = distributions[i]!;
  });
}
