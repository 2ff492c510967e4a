// The test: the tool, the reward and one rollout with both. It fails where they do not fit together.
//
//   npm test
import assert from "node:assert/strict";
import { test } from "node:test";
import { judgedTrajectory, score } from "arpo-lab/learn";
import { Policy } from "arpo-lab/policy";
import { rollout } from "arpo-lab/rollout";
import { ToolSet } from "arpo-lab/tools";
import { compute_score } from "./reward.js";
import tool from "./tool.js";

const tools = new ToolSet([tool]);

test("the tool computes, and answers what it cannot read", async () => {
  assert.equal((await tools.call("python", "35-13*2")).text, "9");
  assert.match((await tools.call("python", "35 apples")).text, /^Error: /);
});

test("the reward is 1 for the right answer alone", async () => {
  const scored = async (response: string) => {
    const judged = judgedTrajectory({ response, groundTruth: "9" });
    return (await compute_score(judged)).score;
  };
  assert.equal(await scored("<answer>\\boxed{9}</answer>"), 1);
  assert.equal(await scored("<answer>8</answer>"), 0.1);
  assert.equal(await scored("9"), 0);
});

test("the model calls the tool, and its answers get different rewards", async () => {
  const policy = await Policy.load("data/models/tiny");
  const tree = await rollout(policy, "What is 35 - 13 * 2?", { tools, n: 8, seed: 1 });
  const { trajectories } = await score(tree, (judged) =>
    compute_score({ ...judged, groundTruth: "9" }),
  );
  assert.ok(tree.nodes.some(({ tool: called }) => called?.ok));
  assert.ok(new Set(trajectories.map(({ score: found }) => found.score)).size > 1);
  policy.dispose();
});
