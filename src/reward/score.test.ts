import assert from "node:assert/strict";
import { test } from "node:test";
import { defined } from "../../common/options/defined.js";
import { rollout } from "../rollout/rollout.js";
import { randomTextPolicy } from "../rollout/testing/random-text-policy.js";
import { byDataSource } from "./by-data-source.js";
import { deepResearch } from "./rewards/deep-research.js";
import { judgeReward, rubric } from "./judge-reward.js";
import type { JudgedTrajectory } from "./judged-trajectory.js";
import { groupReward, type Reward, type RewardContext } from "./reward-function.js";
import { score } from "./score-trees.js";

const chat = [
  { role: "system" as const, content: "Be brief." },
  { role: "user" as const, content: "6*7?" },
];
const grow = (task: { id: string; groundTruth?: string; dataSource?: string }, n = 3) =>
  rollout(randomTextPolicy(), { prompt: chat, ...task }, { n, seed: 4 });
const never = () => new Promise<number>(() => undefined);

test("score() lets a reward see the chat, the prompt's text, the question and the tree", async () => {
  const tree = await grow({ id: "sum", groundTruth: "42" });
  const seen: JudgedTrajectory[] = [];
  await score(tree, (judged) => seen.push(judged));
  assert.equal(seen.length, 3);
  for (const [trajectory, { prompt, tree: place }] of seen.entries()) {
    assert.deepEqual(prompt.messages, chat);
    assert.equal(prompt.question, "6*7?");
    assert.equal(prompt.text, tree.prompt.text);
    assert.deepEqual(place, {
      ...{
        group: "sum",
        index: 0,
        trajectory,
        trajectories: 3,
        kind: tree.trajectories[trajectory]!.kind,
      },
      ...{ end: tree.trajectories[trajectory]!.end, policy: tree.policy, seed: tree.seed },
      responseLength: tree.config.responseLength,
    });
  }
});

test("score() scores a task without a groundTruth, unless the reward compares with one", async () => {
  const tree = await grow({ id: "free" });
  const { mean } = await score(tree, ({ groundTruth }) => Number(groundTruth === undefined));
  assert.equal(mean, 1);
  await assert.rejects(
    score(tree, deepResearch),
    /task free, trajectory 0: .*the task must have a groundTruth, got none/,
  );
});

test("score() runs rewards at the same time, and no more than it may", async () => {
  const trees = await Promise.all([grow({ id: "a" }), grow({ id: "b" })]);
  let [now, most] = [0, 0];
  let open = () => {};
  const full = new Promise<void>((resolve) => (open = resolve));
  const { trajectories } = await score(
    trees,
    async ({ tree }) => {
      most = Math.max(most, ++now);
      if (now === 4) open();
      await full; // nobody answers before four are under way
      now--;
      return tree.trajectory;
    },
    { concurrency: 4 },
  );
  assert.equal(most, 4);
  // The answers stand with their trajectories, whoever was first.
  assert.ok(
    trajectories.every(({ score: { score: value }, trajectory }) => value === trajectory.id),
  );
});

test("score() names a reward that never answers, and tells it that nobody waits", async () => {
  const tree = await grow({ id: "slow" });
  let told: AbortSignal | undefined;
  const reward = ({ tree: { trajectory } }: JudgedTrajectory, { signal }: RewardContext) => {
    if (trajectory !== 1) return trajectory;
    told = signal;
    return never();
  };
  await assert.rejects(
    score(tree, reward, { timeoutMs: 20 }),
    /Cannot score task slow, trajectory 1: the reward must answer within 0\.02 s, got nothing/,
  );
  assert.ok(told!.aborted);
});

test("score() stops when its signal says so, and so do its rewards", async () => {
  const tree = await grow({ id: "stop" });
  const stop = new AbortController();
  const signals: AbortSignal[] = [];
  const scoring = score(
    tree,
    (_, { signal }) => {
      signals.push(signal);
      if (signals.length === 3) stop.abort(new Error("enough"));
      return never();
    },
    { signal: stop.signal },
  );
  await assert.rejects(scoring, /^Error: enough$/);
  assert.deepEqual(
    signals.map(({ aborted }) => aborted),
    [true, true, true],
  );
});

const wrong: [what: string, reward: unknown, message: RegExp][] = [
  ["throws", () => assert.fail("no idea"), /task t, trajectory 0: the reward threw no idea/],
  ["gives NaN", () => NaN, /task t, trajectory 0: the reward must be a finite number, got NaN/],
  [
    "gives nothing",
    () => undefined,
    /trajectory 0: the reward must give a number, .* got undefined/,
  ],
  ["gives a truth value", () => true, /trajectory 0: the reward must give a number, .* got true/],
  [
    "gives a group too few scores",
    groupReward(() => [1]),
    /task t, trajectories 0, 1, 2: the reward of a group must give a score for each of its 3 trajectories, got 1/,
  ],
  [
    "gives one of a group NaN",
    groupReward((trajectories) => trajectories.map((_, i) => (i === 1 ? NaN : 0))),
    /task t, trajectory 1: the reward must be a finite number, got NaN/,
  ],
  ["is none", 5, /the reward must be a function or a groupReward, got 5/],
];
for (const [what, reward, message] of wrong) {
  test(`score() refuses, with task and trajectory, a reward that ${what}`, async () => {
    const tree = await grow({ id: "t" });
    await assert.rejects(score(tree, reward as Reward), message);
  });
}

test("score() says what it cannot score", async () => {
  const no = (trees: unknown) => score(trees as Parameters<typeof score>[0]);
  await assert.rejects(no(null), /there must be a tree or a list of trees, got null/);
  await assert.rejects(no([5]), /there must be a tree or a list of trees, got 5/);
  const tree = await grow({ id: "t" });
  await assert.rejects(
    score(tree, () => 1, { concurrency: 0 }),
    /concurrency must be an integer of at least 1, got 0/,
  );
  await assert.rejects(
    score(tree, () => 1, { timeoutMs: NaN }),
    /timeoutMs must be a number above 0, got NaN/,
  );
});

test("score() gives a group reward the trajectories of each task together", async () => {
  const trees = [await grow({ id: "a" }), await grow({ id: "b" }, 2)];
  const groups: string[] = [];
  const { trajectories } = await score(
    trees,
    groupReward((judged) => {
      groups.push(judged.map(({ tree }) => tree.group).join(""));
      return judged.map((_, i) => ({ score: i, reason: `place ${i}` }));
    }),
  );
  assert.deepEqual(groups, ["aaa", "bb"]);
  assert.deepEqual(
    trajectories.map(({ group, score: { score: value, reason } }) => [group, value, reason]),
    ["a 0", "a 1", "a 2", "b 0", "b 1"].map((text) => {
      const [group, place] = text.split(" ");
      return [group, Number(place), `place ${place}`];
    }),
  );
});

test("rubric() and byDataSource() take rewards over groups beside others", async () => {
  const trees = [
    await grow({ id: "a", dataSource: "ranked" }),
    await grow({ id: "b", dataSource: "plain" }),
  ];
  const rank = groupReward((trajectories) => trajectories.map((_, i) => i));
  const { trajectories } = await score(
    trees,
    byDataSource({
      ranked: rubric([
        { name: "rank", weight: 10, reward: rank },
        { name: "row", weight: 1, reward: ({ tree }) => tree.trajectory },
      ]),
      plain: () => 7,
    }),
  );
  assert.deepEqual(
    trajectories.map(({ score: { score: value } }) => value),
    [0, 11, 22, 7, 7, 7],
  );
  assert.deepEqual(trajectories[1]!.score.parts, { rank: 1, row: 1 });
});

/** A judge that takes what begins with a letter for right, and says what it was asked. */
function listener(failure?: string) {
  const asked: { question: string; answer: unknown; prediction: string }[][] = [];
  const judge = async (questions: readonly (typeof asked)[number][number][]) => {
    asked.push([...questions]);
    return questions.map(({ prediction }) => ({
      correct: /^[a-z]/i.test(prediction),
      reply: `about ${prediction}`,
      ...defined({ failure }),
    }));
  };
  return { asked, judge };
}

test("judgeReward() trains with a judge: it is asked about a task's trajectories together", async () => {
  const tree = await grow({ id: "judged", groundTruth: "42" });
  const judge = listener();
  const answers = ["forty-two", "", "?"];
  const reward = judgeReward(judge, {
    prediction: ({ tree: { trajectory } }) => answers[trajectory]!,
    wrong: -1,
  });
  const { trajectories } = await score(tree, reward);
  assert.deepEqual(judge.asked, [
    [
      { question: "6*7?", answer: "42", prediction: "forty-two" },
      { question: "6*7?", answer: "42", prediction: "?" },
    ],
  ]);
  assert.deepEqual(
    trajectories.map(({ score: { score: value, reason, answer } }) => [value, reason, answer]),
    [
      [1, "about forty-two", "forty-two"],
      [-1, "no answer to judge", ""],
      [-1, "about ?", "?"],
    ],
  );
});

test("judgeReward() never takes a failing judge for a wrong answer", async () => {
  const tree = await grow({ id: "judged", groundTruth: "42" });
  const prediction = () => "some";
  await assert.rejects(
    score(tree, judgeReward(listener("no connection"), { prediction })),
    /task judged, trajectories 0, 1, 2: the judge gave no verdict on "some": no connection/,
  );
  const { trajectories } = await score(
    tree,
    judgeReward(listener("no connection"), { prediction, unjudged: 0.5 }),
  );
  assert.deepEqual(
    trajectories.map(({ score: { score: value } }) => value),
    [0.5, 0.5, 0.5],
  );
});
