/** What the notebooks of `notebooks/` use to check exercises. */
export { agree, checkFunction, checkValue } from "./check.js";
export { exercise } from "./exercise.js";
export type { ExerciseName } from "./exercises/index.js";
export { right, Verdict, type VerdictState, wrong } from "./verdict.js";
