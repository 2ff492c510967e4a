/** What the lessons in `notebooks/` use to check exercises. Internal. */

export { agree, checkFunction, checkValue } from "../../lessons/check.js";
export { exercise } from "../../lessons/exercise.js";
export type { ExerciseName } from "../../lessons/exercises/index.js";
export { right, Verdict, type VerdictState, wrong } from "../../lessons/verdict.js";
