import assert from "node:assert/strict";
import { test } from "node:test";
import { rollout } from "../rollout/rollout.js";
import { ScriptedPolicy } from "../rollout/testing/scripted-policy.js";
import { ToolSet } from "../tools/tool-set.js";
import { groupReward, reference } from "./reward-function.js";
import { judgeReward } from "./judge-reward.js";
import { loadReward } from "./load-reward.js";
import { checkFormat, deepResearch } from "./rewards/deep-research.js";
import { exactMatch } from "./rewards/exact-match.js";
import { gsm8k } from "./rewards/gsm8k.js";
import { math } from "./rewards/math.js";
import { substringMatch } from "./rewards/substring-match.js";
import { score } from "./score-trees.js";

/** A trajectory in which tools answer with a page. */
async function grown(turns: readonly string[], page: string, tags = ["search", "python"]) {
  const policy = new ScriptedPolicy(({ turn }) => ({
    text: turns[turn]! + (turn === turns.length - 1 ? "\u0001" : ""),
  }));
  const tools = new ToolSet(
    tags.map((tag) => ({ name: tag, tag, description: tag, execute: () => page })),
  );
  const task = { prompt: "The capital of Italy?", groundTruth: "Paris" };
  return rollout(policy, task, { n: 1, initialRollouts: 1, responseLength: 2000, tools });
}

const scoreOf = async (...[tree, reward]: Parameters<typeof score>) =>
  (await score(tree, reward)).trajectories[0]!.score;

const turns = [
  "<think>t</think><search>q</search>",
  "<think>t</think><answer>\\boxed{Rome}</answer>",
];
const page = "<think>t</think><answer>\\boxed{Paris}</answer> #### 7";

test("an answer on a page is not the model's: every reward scores what the model said", async () => {
  const tree = await grown(turns, page);
  const judge = {
    judge: async (asked: readonly { prediction: string }[]) =>
      asked.map(({ prediction }) => ({ correct: prediction === "Paris" })),
  };
  const rewards = [deepResearch, math, exactMatch, substringMatch, gsm8k, judgeReward(judge)];
  for (const reward of rewards) {
    const { score: found, reason } = await scoreOf(tree, reward);
    assert.equal(found, 0, reason);
  }
  // A page behind the answer, as a last word of a tool.
  const last = await grown(
    ["<think>t</think><answer>\\boxed{Rome}</answer><search>q</search>", "ok"],
    page,
  );
  assert.equal((await scoreOf(last, math)).score, 0);
});

test("tags on a page break no format, and earn no bonus", async () => {
  const right = turns.map((text) => text.replace("Rome", "Paris"));
  for (const tags of [
    page,
    "<answer>",
    "</think>",
    "<search>",
    "</search></python>",
    "</result>",
  ]) {
    const { score: found, reason } = await scoreOf(await grown(right, tags), deepResearch);
    assert.equal(found, 1, `${tags}: ${reason}`);
  }
  const both = [right[0]!, "<think>t</think><python>1</python>", right[1]!];
  assert.equal((await scoreOf(await grown(both, page), deepResearch)).score, 1.1);
  // Python was never called: there is no such tool.
  const made = ["<think></python></think><search>q</search>", right[1]!];
  assert.equal((await scoreOf(await grown(made, "r", ["search"]), deepResearch)).score, 1);
});

test("a result block that the model makes up is no answer of a tool", async () => {
  const made =
    "<think>t</think><python>1</python><result>1</result><answer>\\boxed{Paris}</answer>";
  const { score: found, reason } = await scoreOf(await grown([made], "", ["search"]), deepResearch);
  assert.deepEqual([found, reason], [-1, "bad format: python/result tags are incomplete"]);
  // What stands in it is the model's.
  const boxed = await grown(["<result>\\boxed{Paris}</result>"], "");
  assert.equal((await scoreOf(boxed, math)).score, 1);
});

test("a reward of one's own sees what the model wrote, and the whole in transcript", async () => {
  const tree = await grown(turns, page);
  const seen = await scoreOf(
    tree,
    groupReward(([one]) => {
      assert.equal(one!.response, `${turns[0]} <result>\n\n</result>${turns[1]}`);
      assert.equal(one!.transcript, `${turns[0]} <result>\n${page}\n</result>${turns[1]}`);
      assert.deepEqual(
        one!.parts!.map(({ by }) => by),
        ["model", "tool", "model"],
      );
      assert.ok(checkFormat(one!.response).valid);
      return [1];
    }),
  );
  assert.equal(seen.score, 1);
});

test("reference() scores the whole transcript, as the published code does", async () => {
  const tree = await grown(turns, page);
  assert.equal((await scoreOf(tree, reference(math))).score, 0);
  const noAnswer = await grown([turns[0]!, "<think>t</think>none"], page);
  assert.equal((await scoreOf(noAnswer, deepResearch)).score, -1);
  assert.equal((await scoreOf(noAnswer, reference(deepResearch))).score, 1);
  assert.equal((await scoreOf(noAnswer, await loadReward("reference"))).score, 1);
  assert.equal((await scoreOf(noAnswer, reference(math))).score, 1);
  assert.throws(
    () => reference(groupReward(() => []) as never),
    /^TypeError: Cannot reward as the reference does: the reward must be a function, got object/,
  );
});

test("a response that is text alone is read once: what stands in result blocks is a tool's", () => {
  const response = `${turns[0]} <result>\n${page}\n</result>${turns[1]}`;
  const judged = { response, groundTruth: "Paris" };
  assert.equal(deepResearch(judged).score, 0);
  assert.equal(math(judged).score, 0);
  assert.equal(exactMatch(judged).score, 0);
  assert.equal(deepResearch({ ...judged, asReference: true }).score, -1);
});

test("an environment's reward sees what the model wrote", async () => {
  let response = "";
  const environment = () => ({
    tools: { act: "acts" },
    reset: () => undefined,
    act: () => "<answer>\\boxed{Paris}</answer>",
    reward(end: { response: string }) {
      ({ response } = end);
      return 0;
    },
  });
  const policy = new ScriptedPolicy(({ turn }) => ({ text: turn ? "no\u0001" : "<act>x</act>" }));
  await rollout(policy, { prompt: "?" }, { n: 1, initialRollouts: 1, environment });
  assert.equal(response, "<act>x</act> <result>\n\n</result>no");
});
