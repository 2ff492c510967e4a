// The reward: 1 for the right answer, 0 for any other.
import type { RewardFunction, Score } from "arpo-lab/learn";

/** A number, with a unit or without, is right within 1%, because results are rounded. A clock time must be equal. */
function same(answer: string, truth: string): boolean {
  if (truth.includes(":")) return answer === truth;
  const [, number, unit] = /^(-?[\d.]+)(?: ([a-z]+))?$/.exec(answer) ?? [];
  const [wanted = "", inUnit] = truth.split(" ");
  if (unit !== undefined && unit !== inUnit) return false;
  return Math.abs(Number(number) - Number(wanted)) <= 0.01 * Math.abs(Number(wanted));
}

export const compute_score = (({ response, groundTruth, eosToken = "" }): Score => {
  const text = response.endsWith(eosToken)
    ? response.slice(0, response.length - eosToken.length)
    : response;
  const answer = /<answer>([^<]*)<\/answer>$/.exec(text.trim())?.[1]?.trim();
  if (answer === undefined) return { score: 0, reason: "no <answer>…</answer> at the end" };
  if (same(answer, String(groundTruth))) return { score: 1, reason: "right", answer };
  return { score: 0, reason: `wrong: ${answer}, not ${String(groundTruth)}`, answer };
}) satisfies RewardFunction;
