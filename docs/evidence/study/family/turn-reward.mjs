// ARPO's reward and, for credit by turns, one for the calls: 0.2 where a tool's answer held the right one.
const { deepResearch } = await import("../../../../dist/src/reward/rewards/deep-research.js");

export function compute_score(judged) {
  const wanted = [judged.groundTruth ?? []].flat();
  const earned = judged.toolCalls.map(({ ok, text }) =>
    ok && wanted.some((truth) => text.includes(truth)) ? 0.2 : 0,
  );
  return { ...deepResearch(judged), turns: [...earned, 0] };
}
