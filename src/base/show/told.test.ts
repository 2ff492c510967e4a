import assert from "node:assert/strict";
import { test } from "node:test";
import { advantages } from "../../learn/advantages.js";
import { readRollouts } from "../../formats/read-rollouts.js";
import { score } from "../../reward/score-trees.js";
import { rollout } from "../../rollout/rollout.js";
import { randomTextPolicy } from "../../rollout/testing/random-text-policy.js";
import { type AskTold, tell, type ToldValue } from "./told.js";

const made = async (prompt = "6*7?") =>
  await rollout(randomTextPolicy(), { prompt }, { n: 4, seed: 1, responseLength: 32, quiet: true });

interface Summary {
  prompt: string;
  trajectories: { trajectory: number; score?: number; tokens: number; text: string }[];
  most_uncertain: { trajectory: number; token: number; text?: string; entropy: number }[];
  left_out?: number;
}
interface Explained {
  score: number | null;
  reason?: string;
  why_none?: string;
  advantages?: { estimator: string; mean: number };
}
const summary = (value: ToldValue, tree = 0) =>
  tell(value, { what: "tree", tree }) as unknown as Summary;
const explained = (value: ToldValue, trajectory: number) =>
  tell(value, { what: "score", trajectory }) as unknown as Explained;

test("tell() tells of a tree what its nodes and trajectories say", async () => {
  const tree = await made();
  const told = summary(tree);
  assert.deepEqual(
    told.trajectories.map(({ tokens }) => tokens),
    tree.trajectories.map(({ tokens }) => tokens.length),
  );
  const [first] = told.most_uncertain;
  const { nodes } = tree;
  const highest = Math.max(...nodes.flatMap(({ entropies }) => [...entropies]));
  assert.ok(Math.abs(first!.entropy - highest) < 1e-3);
  const { tokens, entropies } = tree.trajectories[first!.trajectory]!;
  assert.ok(Math.abs(entropies[first!.token]! - highest) < 1e-6, "the place is in the response");
  assert.equal(first!.text, tree.tokenizer!.decode([tokens[first!.token]!]));
  assert.equal(explained(tree, 0).score, null);
  assert.match(explained(tree, 0).why_none ?? "", /score\(\)/);
});

test("tell() tells scores, their reasons and advantages, wherever they are", async () => {
  const scored = await score(await made(), ({ response }) => ({
    score: response.length % 3,
    reason: `it has ${response.length}`,
  }));
  const batch = advantages(scored);
  for (const value of [scored, batch, { scored }, [scored]] as ToldValue[]) {
    const told = explained(value, 2);
    const own = scored.trajectories[2]!.score;
    assert.deepEqual([told.score, told.reason], [own.score, own.reason]);
    assert.deepEqual(
      summary(value).trajectories.map((one) => one.score),
      scored.trajectories.map((one) => one.score.score),
    );
  }
  const own = batch.trajectories[1]!.advantages[0]!;
  assert.ok(Math.abs(explained(batch, 1).advantages!.mean - own) < 1e-3);
  const imported = readRollouts([{ input: "6*7?", output: "41", score: 0.5, step: 1 }]);
  assert.equal(explained(imported, 0).score, 0.5);
});

test("tell() names the node and the place of a token for a fork", async () => {
  const tree = await made();
  const place = (token: number) =>
    tell(tree, { what: "place", trajectory: 1, token }) as { node: number; at: number; of: string };
  const { node, at, of } = place(3);
  const fork = await tree.fork(node, { at, n: 1, seed: 5 });
  assert.equal(of, "tree");
  assert.deepEqual(
    [...fork.trajectories[0]!.tokens.slice(0, 3)],
    [...tree.trajectories[1]!.tokens.slice(0, 3)],
  );
  assert.throws(() => place(99_999), /token must be one that the model wrote/);
});

test("what tell() gives is bounded, however large the trees are", async () => {
  const tree = await made("x ".repeat(1800));
  const many = Array.from({ length: 500 }, () => tree);
  const listed = tell(many, { what: "trees" }) as { of: number; trees: unknown[] };
  assert.deepEqual([listed.of, listed.trees.length], [500, 50]);
  assert.ok(JSON.stringify(listed).length < 30_000);
  const rows = Array.from({ length: 300 }, () => ({
    ...{ input: "q", step: 1, score: 1 },
    output: "word ".repeat(5000),
  }));
  const told = summary(readRollouts(rows));
  assert.deepEqual([told.trajectories.length, told.left_out], [32, 268]);
  assert.ok(JSON.stringify(told).length < 20_000);
  assert.match(told.trajectories[0]!.text, /\[…\d+ characters…\]/);
});

test("tell() refuses what holds no trees, and places that are not there", async () => {
  const tree = await made();
  const odd: [unknown, unknown, RegExp][] = [
    [{}, { what: "tree" }, /must be a tree, scored/],
    [null, { what: "trees" }, /must be a tree, scored/],
    [tree, { what: "delete" }, /what must be one of trees, tree, score, place/],
    [tree, { what: "tree", tree: 1 }, /one of 0 to 0, got 1/],
    [tree, { what: "score", trajectory: 9 }, /one of 0 to 3, got 9/],
    [tree, { what: "score", trajectory: "__proto__" }, /trajectory must be/],
  ];
  for (const [value, ask, message] of odd)
    assert.throws(() => tell(value as ToldValue, ask as AskTold), message);
});
