import type { Verdict } from "./verdict.js";

/** How one exercise is judged. */
export interface ExerciseRule<A = never> {
  /** What helps somebody who has not answered yet. */
  hint: string;
  check: (answer: A) => Verdict | Promise<Verdict>;
}

/** What an exercise wants as its answer. */
export type AnswerOf<R> = R extends ExerciseRule<infer A> ? A : never;

/** Writes an exercise down with the type of its answer. */
export function rule<A>(given: ExerciseRule<A>): ExerciseRule<A> {
  return given;
}
