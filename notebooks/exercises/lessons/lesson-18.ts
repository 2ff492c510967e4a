import { agree, checkFunction } from "../check.js";
import { rule } from "../rule.js";

/** What is known of a token: ln p of teacher and student, and whether the model wrote it. */
export interface TaughtToken {
  teacher: number;
  student: number;
  written: boolean;
}

/** What a token's advantage is made of. */
export interface TaughtAdvantage {
  advantage: number;
  gap: number;
  coefficient: number;
  bound: number;
}

const gapOf = ({ teacher, student, written }: TaughtToken) => (written ? teacher - student : 0);
const bounded = ({ gap, bound }: TaughtAdvantage) => Math.max(-bound, Math.min(bound, gap));
const sumOf = (one: TaughtAdvantage) => one.advantage + one.coefficient * bounded(one);
const hasTeacher = (scores: number[]) =>
  scores.map((_, i) => scores.some((score, j) => j !== i && score >= 1));

/** A model that teaches itself. */
export const lesson18 = {
  "18 gap": rule<(tokens: TaughtToken[]) => number[]>({
    hint: "for each token that the model wrote, ln p of the teacher less that of the student; 0 elsewhere.",
    check: (given) =>
      checkFunction(
        given,
        [
          [{ teacher: -0.1, student: -0.1, written: true }],
          [
            { teacher: -9, student: -0.5, written: true },
            { teacher: -4, student: -2, written: false },
            { teacher: -0.2, student: -1, written: true },
          ],
        ].map((tokens) => [[tokens], tokens.map(gapOf)] as const),
        {
          because: "below 0 where the teacher would rather not have written the token.",
          off: ([tokens], found) => {
            if (
              agree(
                found,
                tokens.map(({ teacher, student }) => teacher - student),
              )
            )
              return "A tool wrote one of them: nobody learns to write that.";
            return agree(
              found,
              tokens.map((one) => -gapOf(one)),
            )
              ? "That is how far the student is above the teacher; the push goes the other way."
              : undefined;
          },
        },
      ),
  }),
  "18 advantage": rule<(token: TaughtAdvantage) => number>({
    hint: "bound the gap to either side first; then it counts `coefficient` times, beside the reward's advantage.",
    check: (given) =>
      checkFunction(
        given,
        [
          { advantage: -0.6, gap: -0.2, coefficient: 1, bound: 1 },
          { advantage: 1.4, gap: -17, coefficient: 0.5, bound: 2 },
          { advantage: 0, gap: 3, coefficient: 2, bound: 1 },
        ].map((one) => [[one], sumOf(one)] as const),
        {
          because: "with a bound, a gap of many nats cannot outweigh every reward.",
          off: ([one], found) =>
            agree(found, one.advantage + one.coefficient * one.gap)
              ? "The bound is not there: one token with a gap of -17 outweighs the reward."
              : agree(found, one.advantage - one.coefficient * bounded(one))
                ? "Turned round: a token that the teacher finds unlikely must get less."
                : undefined,
        },
      ),
  }),
  "18 siblings": rule<(scores: number[]) => boolean[]>({
    hint: "a trajectory is no example for itself: is there another one of score 1 or more?",
    check: (given) =>
      checkFunction(
        given,
        [
          [0, 1, -1],
          [1, 1],
          [0, 0, 0],
        ].map((scores) => [[scores], hasTeacher(scores)] as const),
        {
          because:
            "a group that nobody solved teaches nothing, and the only right trajectory of a group has nobody to learn from.",
          off: ([scores], found) =>
            agree(
              found.map(Number),
              scores.map(() => Number(scores.some((score) => score >= 1))),
            )
              ? "The only right trajectory would read its own answer: a teacher that copies."
              : undefined,
        },
      ),
  }),
};
