import assert from "node:assert/strict";
import { test } from "node:test";
import { exercise } from "../exercise.js";
import type { ExerciseName } from "../lessons/index.js";
import type { AnswerOf, ExerciseRule } from "../rule.js";

/** Answers to one exercise; each wrong one with what must be said of it. */
interface Answers<A> {
  right: readonly A[];
  wrong: readonly (readonly [answer: A, says: RegExp])[];
}

/** Answers to every exercise of a lesson: leaving one out does not compile. */
export type AnswersTo<L extends Record<string, ExerciseRule>> = {
  readonly [N in keyof L]: Answers<AnswerOf<L[N]>>;
};

/**
 * Tests every exercise of a lesson: without an answer it says so, each right answer is called right,
 * each wrong one wrong, with the reason.
 */
export function judgeAnswers<L extends Record<string, ExerciseRule>>(
  lesson: L,
  answers: AnswersTo<L>,
): void {
  for (const name of Object.keys(lesson)) {
    const { right, wrong } = answers[name as keyof L] as Answers<never>;
    const judge = (answer: unknown) => exercise(name as ExerciseName, answer as never);
    test(`exercise "${name}" tells right answers from wrong ones`, async () => {
      assert.ok(right.length > 0 && wrong.length > 0);
      assert.equal((await judge(undefined)).state, "not yet");
      if (typeof right[0] === "function") {
        assert.equal((await judge(() => undefined)).state, "not yet");
      }
      for (const answer of right) {
        const verdict = await judge(answer);
        assert.equal(verdict.state, "right", verdict.message);
      }
      for (const [answer, says] of wrong) {
        const verdict = await judge(answer);
        assert.equal(verdict.state, "wrong", verdict.message);
        assert.match(verdict.message, says);
      }
    });
  }
}
