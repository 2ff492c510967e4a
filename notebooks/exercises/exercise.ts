import { nearest } from "../../common/options/nearest.js";
import { Unanswered } from "./check.js";
import { exercises, type ExerciseName } from "./lessons/index.js";
import type { AnswerOf, ExerciseRule } from "./rule.js";
import { Verdict, wrong } from "./verdict.js";

/**
 * Judges the answer to an exercise of the lessons: "not yet" with a hint where there is none, "right"
 * with the reason, or "wrong" with what is off. Nothing is thrown, so that a lesson runs to its end
 * with exercises left open.
 */
export async function exercise<N extends ExerciseName>(
  name: N,
  answer: AnswerOf<(typeof exercises)[N]> | undefined,
): Promise<Verdict> {
  const rule = (exercises as Record<string, ExerciseRule | undefined>)[name];
  if (!rule) {
    const known = nearest(name, Object.keys(exercises));
    throw new RangeError(
      `Cannot check an exercise: its name must be one of the lessons'${known ? `, such as "${known}"` : ""}, got "${name}"`,
    );
  }
  const open = new Verdict("not yet", rule.hint);
  if (answer === undefined) return open;
  try {
    return await rule.check(answer as never);
  } catch (error) {
    if (error instanceof Unanswered) return open;
    return wrong(
      `your answer threw ${error instanceof Error ? `${error.name}: ${error.message}` : String(error)}`,
    );
  }
}
