import assert from "node:assert/strict";
import { test } from "node:test";
import { calculator } from "../tools/calculator/calculator.js";
import { ToolSet } from "../tools/tool-set.js";
import { rollout } from "./rollout.js";
import { rolloutPresets } from "./presets.js";
import { treesFromJsonl, treesToJsonl } from "./files/tree-jsonl.js";
import type { RolloutTree } from "./rollout-tree.js";
import { randomTextPolicy } from "./testing/random-text-policy.js";
import { ScriptedPolicy } from "./testing/scripted-policy.js";

const tools = new ToolSet([calculator()]);

/** Calls once, then reports what the result block said. */
const reporter = () =>
  new ScriptedPolicy(({ text }) => {
    const result = /<result>\n(.*)\n<\/result>$/.exec(text)?.[1];
    return result === undefined
      ? { text: "so <calc>6*7</calc>", confidence: 0.9 }
      : { text: `it is ${result}\u0001`, confidence: 0.5 };
  });

const grow = () => rollout(reporter(), { prompt: "q" }, { tools, seed: 3 });
const texts = (tree: RolloutTree) => tree.selected.map((t) => t.text);

test("RolloutTree.fork() continues after a tool result", async () => {
  const tree = await grow();
  const forked = await tree.fork(1, { n: 3 });
  assert.equal(forked.trajectories.length, 3);
  assert.deepEqual(new Set(texts(forked)), new Set([texts(tree)[0]]));
  assert.deepEqual(forked.origin, { node: 1, at: tree.nodes[1]!.tokens.length, seed: 3 });
  // What comes before the fork is kept as it was, with its mask and log-probs.
  const [old] = tree.selected;
  const [own] = forked.selected;
  assert.deepEqual(own!.lossMask, old!.lossMask);
  assert.deepEqual(own!.logprobs, old!.logprobs);
});

test("RolloutTree.fork() continues from the middle of a segment", async () => {
  const tree = await grow();
  const forked = await tree.fork(0, { at: 3 });
  assert.equal(texts(forked)[0], "so so <calc>6*7</calc> <result>\n42\n</result>it is 42");
  assert.equal(forked.nodes[0]!.logprobs.length, 3);
  assert.equal(forked.nodes[0]!.top!.ids.length, 6);
});

test("RolloutTree.fork() inside a closing tag makes the call that the rest of the tag ends", async () => {
  const tree = await rollout(
    new ScriptedPolicy(({ text }) => {
      if (text.endsWith("</result>")) return { text: "done\u0001" };
      return { text: text.endsWith("</ca") ? "lc>" : "so <calc>6*7</calc>" };
    }),
    { prompt: "q" },
    { tools, n: 1, seed: 3 },
  );
  const { text } = tree.nodes[0]!;
  const forked = await tree.fork(0, { at: text.length - 3 });
  assert.equal(texts(forked)[0], texts(tree)[0]);
  assert.deepEqual([forked.nodes[1]!.text, forked.nodes[1]!.stop], ["lc>", "</calc>"]);
});

test("RolloutTree.fork() takes an edited tool result, at the result or at the call", async () => {
  const tree = await grow();
  for (const node of [0, 1]) {
    const forked = await tree.fork(node, { result: "43" });
    assert.match(texts(forked)[0]!, /<result>\n43\n<\/result>it is 43$/);
    assert.equal(forked.nodes[1]!.tool!.edited, true);
    assert.equal(forked.metrics["tools/total_calls"], 0);
  }
});

test("RolloutTree.fork() makes the call of a segment that ends with one", async () => {
  const tree = await grow();
  const forked = await tree.fork(0);
  assert.deepEqual(texts(forked), texts(tree));
  assert.equal(forked.metrics["tools/total_calls"], 1);
});

test("RolloutTree.fork() repeats itself, and differs with another seed", async () => {
  const tree = await rollout(
    randomTextPolicy(),
    { prompt: "q" },
    { ...rolloutPresets.arpo, tools },
  );
  const node = tree.nodes.find((n) => n.kind === "tool")!.id;
  const bytes = async (seed?: number) =>
    treesToJsonl([await tree.fork(node, { n: 6, seed: seed ?? tree.seed })], { timing: false });
  assert.equal(await bytes(), await bytes());
  assert.notEqual(await bytes(), await bytes(1));
});

test("RolloutTree.fork() can be forked again and spends the calls before it", async () => {
  const policy = new ScriptedPolicy(() => ({ text: "<calc>1</calc>" }));
  const limited = new ToolSet([calculator()], { callLimit: 3 });
  const tree = await rollout(policy, { prompt: "q" }, { tools: limited });
  assert.equal(tree.metrics["tools/total_calls"], 3);
  const once = await tree.fork(1);
  const twice = await once.fork(once.nodes.findLast((n) => n.kind === "tool")!.id);
  assert.deepEqual(texts(twice), texts(tree));
  assert.equal(twice.trajectories[0]!.end, "call-limit");
});

test("RolloutTree.fork() before the first token can be forked there again", async () => {
  const [tree] = await rollout(randomTextPolicy(), [{ prompt: "6*7?" }], { n: 4, seed: 4 });
  const first = await tree!.fork(0, { at: 0, n: 2 });
  assert.equal(first.nodes[0]!.tokens.length, 0, "nothing was taken over");
  const again = await first.fork(0, { at: 0, n: 3 });
  assert.equal(again.trajectories.length, 3);
});

test("RolloutTree.fork() of a tree from a file needs the policy and the tools again", async () => {
  const [tree] = treesFromJsonl(treesToJsonl([await grow()])) as [RolloutTree];
  await assert.rejects(tree.fork(1), /needs a policy, got none/);
  await assert.rejects(tree.fork(1, { policy: reporter() }), /made with tools \(calc\), got none/);
  const forked = await tree.fork(1, { policy: reporter(), tools });
  assert.deepEqual(texts(forked), texts(tree));
});

test("RolloutTree.fork() refuses places where nothing can continue", async () => {
  const tree = await grow();
  await assert.rejects(tree.fork(9), /must be one of 0 to 2, got 9/);
  await assert.rejects(
    tree.fork(2),
    /node 2 ends its trajectory \(answer\); choose a token before/,
  );
  await assert.rejects(tree.fork(0, { at: 99 }), /at must be an integer from 0 to 19, got 99/);
  await assert.rejects(tree.fork(1, { at: 2 }), /node 1 is a tool's result/);
  await assert.rejects(tree.fork(0, { at: 2, result: "x" }), /'result' answers a call/);
  await assert.rejects(tree.fork(1, { responseLength: 20 }), /responseLength must exceed the/);
});

test("RolloutTree.forks() gives what fork gives at each place, places of other rows too", async () => {
  const policy = randomTextPolicy();
  const tree = await rollout(policy, { prompt: "a" }, { tools, n: 3, seed: 5 });
  const places = tree.nodes.flatMap(({ id, kind, tokens }) =>
    kind === "model" ? [0, tokens.length >> 1].map((at) => ({ node: id, at })) : [],
  );
  assert.ok(places.length >= 6);
  const forks = await tree.forks(places, { n: 2, seed: 9 });
  assert.equal(forks.length, places.length);
  for (const [i, { node, at }] of places.entries()) {
    const alone = await tree.fork(node, { at, n: 2, seed: 9 });
    assert.deepEqual(texts(forks[i]!), texts(alone), `node ${node}, token ${at}`);
    assert.deepEqual(forks[i]!.origin, { node, at, seed: 5 });
  }
  assert.deepEqual(await tree.forks([]), []);
});

test("RolloutTree.forks() names the place that is none", async () => {
  const tree = await grow();
  await assert.rejects(tree.forks([{ node: 0 }, { node: 9 }]), {
    message: "Cannot fork: the node must be one of 0 to 2, got 9",
  });
  await assert.rejects(tree.forks([{ node: 0, on: 1 } as never]), /must be known, got on/);
  await assert.rejects(tree.forks(3 as never), /Cannot fork: places must be a list, got 3/);
});
