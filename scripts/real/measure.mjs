// How good a policy is on tasks it has not seen: reward with its interval over questions, and what it did.
const { rollout } = await import("../../dist/src/rollout/index.js");
const { score } = await import("../../dist/src/reward/index.js");

const mean = (values) => values.reduce((sum, x) => sum + x, 0) / values.length;

/** Two samples a question at temperature 1; the interval is of the questions' means (95%). */
export async function measure(policy, tasks, tools, { responseLength, seed }) {
  const samples = 2;
  const trees = await rollout(policy, tasks, {
    ...{ tools, responseLength, seed, n: samples, initialRollouts: samples },
  });
  const { rows } = await score(trees);
  const byQuestion = new Map();
  for (const { group, score: one } of rows) {
    byQuestion.set(group, [...(byQuestion.get(group) ?? []), one.score]);
  }
  const questions = [...byQuestion.values()].map(mean);
  const reward = mean(questions);
  const deviation = Math.sqrt(
    questions.reduce((sum, x) => sum + (x - reward) ** 2, 0) / Math.max(1, questions.length - 1),
  );
  return {
    questions: questions.length,
    reward,
    half: (1.96 * deviation) / Math.sqrt(questions.length),
    right: mean(rows.map((row) => Number(row.score.score > 0))),
    wellFormed: mean(rows.map((row) => Number(row.score.score > -1))),
    calls: mean(rows.map((row) => row.trajectory.toolCalls.length)),
    tokens: mean(rows.map((row) => row.trajectory.tokens.length)),
  };
}
