import type { Score } from "./score.js";

type Scorelike = Pick<Score, "score" | "parts">;

/** How it is known which trajectories of a batch or a file are right. */
export interface RightRule {
  /**
   * `success`: something beside the score tells. `usual`: a right answer scores 1, or somewhat more with a bonus. `own`: the
   * scores have a scale of their own.
   */
  scale: "success" | "usual" | "own";
  /** What tells of success. */
  name?: string;
  /** In words. */
  by: string;
}

/** What rewards and other programs' files call whether an answer is right. */
const successNames = ["success", "is_correct", "correct", "acc", "accuracy", "solved", "resolved"];

/** Scores of the usual scale, from a broken format's to a right answer's with a bonus for its tools. */
const [leastOfUsual, mostOfUsual] = [-1, 1.5];

/** Whether a score of the usual scale is that of a right answer. */
export const isRightScore = (score: number): boolean => score > 0.5;

/** How it is known which trajectories are right, from all scores of a batch or a file. */
export function rightRule(scores: Iterable<Scorelike>): RightRule {
  const names = new Set<string>();
  let [low, high] = [Infinity, -Infinity];
  for (const { score, parts } of scores) {
    low = Math.min(low, score);
    high = Math.max(high, score);
    for (const name in parts) names.add(name);
  }
  const name = successNames.find((one) => names.has(one));
  if (name !== undefined) return { scale: "success", name, by: `by ${name}` };
  if (high <= mostOfUsual && (low >= leastOfUsual || isRightScore(high)))
    return { scale: "usual", by: "a score above 0.5" };
  return { scale: "own", by: "the best score of its prompt" };
}

/** Which trajectories of one prompt are right; undefined where one has no score, or all scores of a scale of their own are equal. */
export function areRight(
  scores: readonly (Scorelike | undefined)[],
  { scale, name = "" }: RightRule,
): (boolean | undefined)[] {
  const known = scores.flatMap((one) => one?.score ?? []);
  const best = known.reduce((a, b) => Math.max(a, b), -Infinity);
  const differ = known.some((score) => score < best);
  return scores.map((one) => {
    if (one === undefined) return undefined;
    if (scale === "success") return isRightScore(one.parts?.[name] ?? 0);
    if (scale === "usual") return isRightScore(one.score);
    return differ ? one.score === best : undefined;
  });
}
