/** What the lessons in `notebooks/` use to check exercises. Internal. */

export { agree, checkFunction, checkValue } from "./check.js";
export { exercise } from "./exercise.js";
export type { ExerciseName } from "./lessons/index.js";
export { right, Verdict, type VerdictState, wrong } from "./verdict.js";
