import assert from "node:assert/strict";
import { test } from "node:test";
import { branchRules, expansionRules } from "../../rollout/rules/registry.js";
import { rollout } from "../../rollout/rollout.js";
import { treesFromJsonl, treesToJsonl } from "../../rollout/files/tree-jsonl.js";
import { ScriptedPolicy } from "../../rollout/testing/scripted-policy.js";
import { sampleTree } from "../testing/sample-tree.js";
import { branchingView } from "./branching-view.js";

test("branchingView() shows what tree.replay() says of every rule, with score and order", async () => {
  const tree = await sampleTree({ seed: 4 });
  const { rules } = branchingView(tree).payload;
  assert.deepEqual(
    rules.map(({ name }) => name),
    [...branchRules, ...expansionRules],
  );
  let compared = 0;
  for (const rule of rules) {
    // It chooses by outcomes, which a tree does not keep.
    if (rule.name === "branpo") {
      assert.throws(() => tree.replay({ rule: "branpo" }), /which a tree does not keep/);
      assert.equal(rule.branches, 0);
      continue;
    }
    const { points, branches, unseen } = tree.replay({ rule: rule.name as "treerl" });
    assert.deepEqual([rule.branches, rule.unseen], [branches, unseen], rule.name);
    const told = rule.points.flatMap(({ trajectory, at, scores, round, orders }) =>
      orders.map((order, i) => ({ trajectory, at, score: scores[i]!, round, order })),
    );
    const byOrder = <T extends { round: number; order: number }>(list: T[]) =>
      list.sort((a, b) => a.round - b.round || a.order - b.order);
    const wanted = points.map(({ trajectory, at, score, round, order }) => ({
      trajectory,
      at,
      score,
      round,
      order,
    }));
    assert.deepEqual(byOrder(told), byOrder(wanted), rule.name);
    compared += told.length;
  }
  assert.ok(compared > 100, `${compared} branches`);
});

test("branchingView() tells the token of each place, its numbers and why the rule takes it", async () => {
  const tree = await sampleTree({ seed: 4 });
  const [treerl] = branchingView(tree, { rules: ["treerl"] }).payload.rules;
  for (const { trajectory, place, before, token, after, numbers, scores, why } of treerl!.points) {
    const text =
      tree
        .path(tree.trajectories[trajectory]!.leaf)
        .map((node) => node.text)
        .join("") + "\u0001";
    assert.equal(text.slice(Math.max(0, place - 24), place), before);
    assert.equal(text.slice(place, place + 1), token);
    assert.ok(text.slice(place + 1).startsWith(after.replace("\u0001", "")));
    assert.equal(new Map(numbers).get("-ln p"), scores[0]);
    assert.match(why, /-ln p .*the token is drawn anew, 2 times/);
  }
  const [arpo] = branchingView(tree, { rules: ["arpo-code"] }).payload.rules;
  assert.ok(arpo!.points.every(({ why }) => why.includes("u - w·ΔH")));
});

test("branchingView() marks the branches that a tree has", async () => {
  const tree = await sampleTree({ seed: 4 });
  const [own] = branchingView(tree, { rules: ["arpo-code"] }).payload.rules;
  const made = tree.trajectories.filter(({ kind }) => kind === "branch").map(({ id }) => id);
  assert.deepEqual(
    own!.points.flatMap(({ children }) => children).sort((a, b) => a - b),
    made,
  );
});

test("branchingView() asks what one attempt would have done where none was made", async () => {
  const tree = await sampleTree({ seed: 4, beamSize: 1, n: 12, branchProbability: 0.9 });
  const [arpo] = branchingView(tree, { rules: ["arpo-code"] }).payload.rules;
  assert.ok(arpo!.branches > 0);
});

test("branchingView() says what a tree lacks, in its words and on its picture", async () => {
  const [read] = treesFromJsonl(treesToJsonl([await sampleTree({ seed: 4 })]));
  const view = branchingView(read!, { rules: ["treerl", "fr3e"] });
  assert.match(
    view.summary,
    /\ntreerl: rule treerl reads the text of tokens and needs a tokenizer/,
  );
  assert.match(view.summary, /\nfr3e: \d+ branches at /);
  assert.doesNotMatch(view.picture(), /NaN/);
  const { tokenizer } = await sampleTree({ seed: 4 });
  assert.match(branchingView(read!, { tokenizer: tokenizer! }).summary, /\ntreerl: 16 branches/);
});

test("branchingView() gives one piece of HTML in which no text of the tree is code", async () => {
  const evil = "</script><script>alert(1)</script><!-- <img src=x onerror=alert(2)>\u0001";
  const policy = new ScriptedPolicy(() => ({ text: evil, confidence: 0.7 }));
  const tree = await rollout(policy, { prompt: evil }, { n: 4, initialRollouts: 2 });
  const bundle = branchingView(tree).bundle();
  assert.equal(bundle["text/html"]!.match(/<script/g)!.length, 2);
  assert.doesNotMatch(bundle["text/html"]!, /<img|<!--/);
  assert.match(bundle["image/svg+xml"]!, /^<svg .*<\/svg>$/s);
  assert.match(bundle["text/plain"]!, /^where 15 rules would branch: 4 trajectories/);
});
