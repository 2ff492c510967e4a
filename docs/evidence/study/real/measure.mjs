// How good a policy is on tasks it has not seen: reward with its interval over questions, and what it did.
const { rollout } = await import("../../../../dist/src/rollout/rollout.js");
const { score } = await import("../../../../dist/src/reward/score-trees.js");

const mean = (values) => values.reduce((sum, x) => sum + x, 0) / values.length;

/** Numbers' mean, and half of its 95% interval. */
export function meanOf(numbers) {
  const middle = mean(numbers);
  const squares = numbers.reduce((sum, x) => sum + (x - middle) ** 2, 0);
  const deviation = Math.sqrt(squares / Math.max(1, numbers.length - 1));
  return { mean: middle, half: (1.96 * deviation) / Math.sqrt(numbers.length) };
}

/** Two samples a question at temperature 1; the interval is of the questions' means. */
export async function measure(policy, tasks, tools, { responseLength, seed }) {
  const samples = 2;
  const trees = await rollout(policy, tasks, {
    ...{ tools, responseLength, seed, n: samples, initialRollouts: samples },
  });
  const { trajectories } = await score(trees);
  const byQuestion = new Map();
  for (const { group, score: one } of trajectories) {
    byQuestion.set(group, [...(byQuestion.get(group) ?? []), one.score]);
  }
  const rewards = [...byQuestion.values()].map(mean);
  const { mean: reward, half } = meanOf(rewards);
  return {
    ...{ questions: rewards.length, reward, half, rewards },
    right: mean(trajectories.map(({ score: one }) => Number(one.score > 0))),
    wellFormed: mean(trajectories.map(({ score: one }) => Number(one.score > -1))),
    calls: mean(trajectories.map(({ trajectory }) => trajectory.toolCalls.length)),
    tokens: mean(trajectories.map(({ trajectory }) => trajectory.tokens.length)),
  };
}
