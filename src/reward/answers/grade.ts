import { type Judged, responseOf, type Score, truthsOf } from "../score.js";
import { lastBoxed, unboxed } from "./extract-answer.js";

/** 1 where the last boxed expression is equivalent to the ground truth, to any of them, else 0. */
export function grade(
  judged: Judged,
  equivalent: (answer: string, truth: string) => boolean,
): Score {
  const wanted = truthsOf(judged);
  let answer: string;
  try {
    answer = unboxed(lastBoxed(responseOf(judged)));
  } catch (error) {
    return { score: 0, reason: error instanceof Error ? error.message : String(error) };
  }
  const right = wanted.some((truth) => equivalent(answer, truth));
  const reason = right
    ? `${answer} is equivalent to the ground truth`
    : `${answer} is not equivalent to ${wanted.join(" or ")}`;
  return { score: right ? 1 : 0, reason, answer };
}
