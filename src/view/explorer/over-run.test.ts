import assert from "node:assert/strict";
import { before, test } from "node:test";
import { temporaryFolder } from "../../../tests/temporary.js";
import { RolloutTree } from "../../rollout/rollout-tree.js";
import { RunFolder } from "../../run/folder/run-folder.js";
import { board } from "../board/board.js";
import { sampleRunFolder } from "../testing/sample-run-folder.js";
import { explore } from "./explore.js";
import { makePayload } from "./make-payload.js";
import { readPolicies } from "./page/tree/policy-steps.js";
import { ownSettings, replayOf } from "./page/tree/shown-replay.js";
import { factsOf } from "./page/tree/tree-facts.js";
import { unpackTree } from "./page/tree/unpack-tree.js";
import { wordCards } from "./page/tree/word-cards.js";
import type { ExplorerPayload } from "./payload.js";

const path = temporaryFolder("over-run");
const alone = temporaryFolder("over-alone");
let tree: RolloutTree;

before(async () => {
  ({ tree } = await sampleRunFolder(path, alone));
});

/** A payload as its page reads it. */
function read(payload: ExplorerPayload) {
  const tree = unpackTree(JSON.parse(JSON.stringify(payload)) as ExplorerPayload);
  const facts = factsOf(tree);
  const packed = tree.policies!;
  return {
    tree,
    packed,
    policies: readPolicies(facts, wordCards(facts), packed, packed.steps.length),
  };
}

test("explore({ over }) scores a tree under every checkpoint of a run, its own among them", async () => {
  const { payload } = await explore(tree, { over: path });
  const { tree: page, packed, policies } = read(payload);
  assert.deepEqual(packed.steps, [-1, 1, 2, 3, 4]);
  // Step 2 sampled it: what it says now is what it said then.
  const own = packed.steps.indexOf(2);
  const [now, then] = [policies.entropiesAt(own), page.entropies];
  page.nodes.forEach(({ kind, start, length }) => {
    for (let t = start; kind === "model" && t < start + length; t++)
      assert.ok(Math.abs(now[t]! - then[t]!) < 1e-3, `${now[t]} ${then[t]}`);
  });
  for (const log of policies.logRatiosAt(own)) assert.ok(Math.abs(log) < 0.01, String(log));
  for (const log of policies.logRatiosAt(0)) assert.equal(log, 0);
  assert.ok(
    policies.logRatiosAt(4).some((log) => Math.abs(log) > 0.05),
    "training changed something",
  );
  // Between two policies bars are between theirs.
  const [low, middle, high] = [3, 3.5, 4].map((step) => policies.surprisesAt(step)[0]!);
  assert.ok(Math.abs(middle! - (low! + high!) / 2) < 1e-4);
});

test("branches are decided by what each checkpoint says of the same words, with the same draws", async () => {
  let [known, moved] = [0, 0];
  const { payload } = await explore(tree, { over: path });
  const { tree: page, packed } = read(payload);
  const recorded = replayOf(page, ownSettings(page));
  const under = (step: number) =>
    replayOf(page, ownSettings(page), packed.decided[packed.steps.indexOf(step)]);
  assert.deepEqual(under(-1), recorded);
  for (const [node, own] of recorded.attempts) {
    const [same, later] = [under(2).attempts.get(node)!, under(4).attempts.get(node)!];
    own.forEach((attempt, i) => {
      known++;
      assert.equal(same[i]!.u, attempt.u);
      assert.ok(Math.abs(same[i]!.entropy - attempt.entropy) < 1e-3);
      assert.ok(Math.abs(same[i]!.baseline - attempt.baseline) < 1e-3);
      if (Math.abs(later[i]!.entropy - attempt.entropy) > 1e-3) moved++;
    });
  }
  assert.equal(under(4).changed, false);
  assert.equal(under(4).decidesAnew, true);
  assert.ok(known > 0, "the run tried to branch");
  assert.ok(moved > 0, "training changed what branches are decided by");
});

test("a long run is thinned, and says so; what cannot be scored is refused", async () => {
  const few = await explore(tree, {
    over: await RunFolder.existing(path),
    checkpoints: 2,
  });
  assert.deepEqual(few.payload.policies!.steps, [-1, 1, 4]);
  assert.equal(few.payload.policies!.note, "2 of the run's 4 checkpoints");
  const least = await explore(tree, { over: path, overBytes: 0 });
  assert.deepEqual(least.payload.policies!.steps, [-1, 1, 4]);

  await assert.rejects(
    explore(tree, { over: alone }),
    /Cannot explore a tree over a run: .* must keep at least 2 checkpoints, got step 4 alone; train with trainer\.save_freq=10 and trainer\.max_actor_ckpt_to_keep=null/,
  );
  const [first, ...rest] = tree.nodes;
  const foreign = { ...first!, tokens: Int32Array.of(70_000, ...first!.tokens.subarray(1)) };
  await assert.rejects(
    explore(new RolloutTree({ ...tree, nodes: [foreign, ...rest] }), { over: path }),
    /the tree's tokens must be of the run's vocabulary of \d+, got token 70000$/,
  );
  const long = { ...first!, tokens: new Int32Array(5000), logprobs: new Float32Array(5000) };
  await assert.rejects(
    explore(new RolloutTree({ ...tree, nodes: [long, ...rest] }), { over: path }),
    /the tree must fit into the run's context of \d+ tokens, got \d+$/,
  );
  await assert.rejects(explore(tree, { over: `${path}/none` }), /Cannot read the run/);
  assert.throws(
    () => explore(tree, { over: 3 as never }),
    /Cannot explore a tree: over must be a path or a run folder, got 3/,
  );
});

test("board({ over }) scores its trees under the run's checkpoints", async () => {
  const html = await board(path, { over: true }).html();
  const kept = [...html.matchAll(/data-tree-0-0-(\d+)>(.*?)<\/script>/gs)].map(
    ([, step, text]) => [step, JSON.parse(text!) as ExplorerPayload] as const,
  );
  assert.equal(kept.length, 4);
  for (const [, { policies }] of kept) assert.deepEqual(policies!.steps, [-1, 1, 2, 3, 4]);
  const plain = await board(path).html();
  assert.doesNotMatch(plain, /"policies":\{/);
  assert.equal(makePayload(tree).policies, undefined);
});
