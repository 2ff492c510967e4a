// The reward: 1 for the right answer, 0.1 for a wrong one in the right form, 0 for none.
import type { RewardFunction, Score } from "arpo-lab/learn";

export const compute_score = (({ response, groundTruth }): Score => {
  const answer = /<answer>(?:\\boxed\{)?([^<{}]*)\}?<\/answer>/.exec(response)?.[1]?.trim();
  if (answer === undefined) return { score: 0, reason: "no <answer>…</answer>" };
  if (answer === String(groundTruth)) return { score: 1, reason: "right", answer };
  return { score: 0.1, reason: `wrong: ${answer}, not ${String(groundTruth)}`, answer };
}) satisfies RewardFunction;
