import assert from "node:assert/strict";
import { test } from "node:test";
import { score } from "../../reward/score-trees.js";
import type { Score } from "../../reward/score.js";
import { rollout } from "../../rollout/rollout.js";
import { ScriptedPolicy } from "../../rollout/testing/scripted-policy.js";
import { makePayload } from "./make-payload.js";
import { summaryOf } from "./page/tree/header-words.js";
import type { ShownReplay } from "./page/tree/shown-replay.js";
import { factsOf } from "./page/tree/tree-facts.js";
import { unpackTree } from "./page/tree/unpack-tree.js";

/** What the page says of a tree with these scores, trajectory by trajectory. */
async function judged(scores: readonly (number | Score)[]) {
  const policy = new ScriptedPolicy(({ sequence }) => ({ text: `${sequence}\u0001` }));
  const tree = await rollout(policy, "?", { n: scores.length });
  const scored = await score(tree, ({ tree: { trajectory } }) => scores[trajectory]!);
  const facts = factsOf(unpackTree(makePayload(tree, { scored })));
  return { verdicts: facts.verdicts, summary: summaryOf(facts, {} as ShownReplay) };
}
const told = (score: number, parts: Record<string, number>): Score => ({
  score,
  reason: "",
  parts,
});

test("right is a score above a half; of scores on a scale of their own the best; or what says so itself", async () => {
  const plain = await judged([1, 0, -1, 0.4]);
  assert.deepEqual(plain.verdicts, ["right", "wrong", "invalid", "wrong"]);
  assert.match(plain.summary, / · 1 right, mean score/);
  const scaled = await judged([3, 8, 8, -2]);
  assert.deepEqual(scaled.verdicts, ["wrong", "right", "right", "wrong"]);
  assert.match(scaled.summary, / · 2 right \(the best score of its prompt\), mean score/);
  const level = await judged([8, 8]);
  assert.deepEqual(level.verdicts, [undefined, undefined]);
  const said = await judged([told(0.9, { acc: 0 }), told(0.1, { acc: 1, length: 3 })]);
  assert.deepEqual(said.verdicts, ["wrong", "right"]);
  assert.match(said.summary, / · 1 right \(by acc\), mean score/);
});
