import assert from "node:assert/strict";
import { test } from "node:test";
import { valueInLink } from "../../base/text/link-text.js";
import { modelFolder } from "../../model/files/model-folder.js";
import { Policy } from "../../policy/policies.js";
import { score } from "../../reward/score-trees.js";
import { runAgain } from "../../rollout/again/run-again.js";
import { treesToJsonl } from "../../rollout/files/tree-jsonl.js";
import { rollout } from "../../rollout/rollout.js";
import { RolloutTree } from "../../rollout/rollout-tree.js";
import { tasks } from "../../tasks/tasks/index.js";
import { world } from "../../tasks/tasks/world.js";
import { taskTools } from "../../tasks/task-tools.js";
import { readRollouts } from "../read-rollouts.js";
import { findingOf } from "./finding.js";

const policy = await Policy.load(modelFolder("data/models/tiny"));
const [, , task] = tasks.multihop({ seed: 2 }).train;
const options = { n: 8, responseLength: 256, seed: 3, quiet: true } as const;
const grown = (preset: "arpo" | "aepo") =>
  rollout(policy, task!, { ...options, preset, tools: taskTools(world) });

/** What a fresh reader has of a finding. */
const sent = (value: unknown) => readRollouts([value as Record<string, unknown>]);
const told = (letters: string) => valueInLink(letters, { what: "finding", most: 1 << 22 });
const line = (tree: RolloutTree) => treesToJsonl([tree], { timing: false });

test("a tree goes through a link whole: its words, its scores, its bytes", async () => {
  const tree = await grown("arpo");
  const scored = await score(tree);
  const { letters, text } = await findingOf(tree, { scored });
  assert.ok(letters !== undefined && letters.length <= 30_000, String(letters?.length));
  const read = sent(await told(letters));
  assert.equal(read.format, "finding");
  const [again] = read.trees as unknown as RolloutTree[];
  const widest = again!.nodes[0]!.top!.width;
  assert.ok(widest >= 4, `${widest} alternatives fit`);
  for (const [i, node] of tree.nodes.entries()) {
    assert.deepEqual([...again!.nodes[i]!.logprobs], [...node.logprobs]);
    assert.equal(again!.tokenizer!.decode(node.tokens), policy.tokenizer.decode(node.tokens));
  }
  assert.equal(read.scoredOf(0)!.mean, scored.mean);
  assert.equal(line(sent(JSON.parse(text)).parts.prompts[0]!.tree!), line(tree));
  const small = await findingOf(tree, { mostLetters: 9_000 });
  assert.equal((sent(await told(small.letters!)).tree(0).nodes[0]!.top?.width ?? 0) < widest, true);
  assert.equal((await findingOf(tree, { mostLetters: 500 })).letters, undefined);
});

test("it runs again to the same bytes from what the link says, its tools answering as they did", async () => {
  for (const preset of ["arpo", "aepo"] as const) {
    const { letters } = await findingOf(await grown(preset));
    const tree = sent(await told(letters!)).parts.prompts[0]!.tree!;
    const again = await runAgain(policy, tree);
    assert.equal(again.same, "bytes", again.verdict);
    assert.equal(line(again.tree!), line(tree));
    assert.match(again.verdict, /^The same [\d,]+ bytes\.$/);
  }
});

test("what differs is named: the token, or the numbers alone; what cannot be run again is refused", async () => {
  const tree = await grown("arpo");
  const other = new RolloutTree({ ...tree, config: { ...tree.config, seed: 4 } });
  const { same, verdict } = await runAgain(policy, other);
  assert.equal(same, "none");
  assert.match(verdict, /^Another tree/);
  const [first, ...rest] = tree.nodes;
  const logprobs = first!.logprobs.map((value, t) => (t === 0 ? value - 1e-3 : value));
  const moved = new RolloutTree({ ...tree, nodes: [{ ...first!, logprobs }, ...rest] });
  assert.match((await runAgain(policy, moved)).verdict, /^The same tokens.* by up to 0\.001/);
  const large = new RolloutTree({ ...tree, config: { ...tree.config, n: 100_000 } });
  await assert.rejects(runAgain(policy, large), /its n must be at most 256, got 100000/);
  const fork = await tree.fork(0, { n: 2 });
  await assert.rejects(runAgain(policy, fork), /must be a whole rollout, got a fork/);
});

test("a broken finding is one plain line", async () => {
  const { text } = await findingOf(await grown("arpo"));
  const whole = JSON.parse(text) as Record<string, unknown>;
  const words = whole["words"] as string[];
  for (const [change, fault] of [
    [{ words: words.slice(1) }, /words must be a list of \d+ texts/],
    [{ ids: ["1"] }, /ids must be a list of token ids/],
    [{ scores: [1] }, /scores must be a list of 8 scores/],
    [{ tree: { nodes: 3, trajectories: [] } }, /must be one tree as JSON/],
  ] as const) {
    assert.match(sent({ ...whole, ...change }).broken[0]!.reason, fault);
  }
  const deep = JSON.parse("[".repeat(1e5) + "]".repeat(1e5)) as unknown;
  assert.throws(() => sent({ ...whole, tree: { deep } }), /at most 500 lists and objects within/);
  const rule = { what: "finding", most: 1000 };
  await assert.rejects(valueInLink("x".repeat(1001), rule), /at most 1000 letters, got 1001/);
  await assert.rejects(valueInLink("!!", rule), /the link must be whole/);
  await assert.rejects(valueInLink("AAAA", rule), /the link must be whole/);
});
