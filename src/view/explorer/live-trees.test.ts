import assert from "node:assert/strict";
import { test } from "node:test";
import type { ViewComm } from "../kernel.js";
import { loadTrees, saveTrees } from "../../rollout/files/tree-files.js";
import { sampleTree } from "../testing/sample-tree.js";
import { explore } from "./explore.js";
import { answer, forks, liveTree, treeTarget } from "./live-trees.js";
import type { LiveTree, TreeReply } from "./payload.js";

const key = Symbol.for("arpo-lab.kernel.host");
const holder = globalThis as { [key: symbol]: unknown };

/** Runs something inside a kernel that keeps who listens. */
async function inKernel<T>(run: (listeners: Map<string, (comm: ViewComm) => void>) => T) {
  const listeners = new Map<string, (comm: ViewComm) => void>();
  holder[key] = {
    cell: () => ({ id: "1" }),
    comms: {
      register: (target: string, opened: (comm: ViewComm) => void) => listeners.set(target, opened),
    },
  };
  try {
    return await run(listeners);
  } finally {
    holder[key] = undefined;
  }
}

test("explore() forks a tree where the page asks the kernel", async () => {
  const tree = await sampleTree({ seed: 5 });
  await inKernel(async (listeners) => {
    const html = explore(tree).html();
    const live = JSON.parse(/data-live>(.*?)<\/script>/.exec(html)![1]!) as LiveTree;
    const node = tree.nodes.find(({ kind, parent }) => kind === "tool" && parent >= 0)!;
    const ask = (message: object) =>
      new Promise<TreeReply>((resolve) => {
        const comm: ViewComm = { send: (reply) => resolve(reply as unknown as TreeReply) };
        listeners.get(treeTarget)!(comm);
        void comm.onMessage!({ data: { tree: live.key, ...message } });
      });
    const before = forks.length;
    const reply = await ask({ node: node.id, result: "the moon", trajectories: 2 });
    assert.ok(reply.error === undefined, reply.error);
    assert.equal(reply.name, `forks[${before}]`);
    const made = forks.at(-1)!;
    assert.equal(made.trajectories.length, 2);
    assert.deepEqual(made.origin, { node: node.id, at: node.tokens.length, seed: tree.seed });
    assert.ok(made.nodes.some(({ tool }) => tool?.edited && tool.text === "the moon"));
    assert.equal(reply.tree.nodes.length, made.nodes.length);
    assert.ok(reply.live && reply.live.key !== live.key, "the new tree can be forked too");

    const again = await ask({ node: 0, at: 1, trajectories: 1, resample: true });
    const once = forks.at(-1)!;
    assert.ok(again.error === undefined);
    await ask({ node: 0, at: 1, trajectories: 1, resample: true });
    assert.notEqual(forks.at(-1)!.seed, once.seed, "each time with another seed");

    const wrong = await ask({ node: 99_999 });
    assert.match(wrong.error!, /Cannot fork: the node must be one of 0 to/);
  });
});

test("explore() offers no kernel where there is none, or where a tree cannot go on", async () => {
  const tree = await sampleTree({ seed: 5 });
  assert.equal(liveTree(tree), undefined);
  assert.doesNotMatch(explore(tree).html(), /data-live>/);
  const { mkdtemp, rm } = await import("node:fs/promises");
  const folder = await mkdtemp((await import("node:os")).tmpdir() + "/live-");
  try {
    await saveTrees(`${folder}/trees.jsonl`, [tree]);
    const [read] = await loadTrees(`${folder}/trees.jsonl`);
    await inKernel(() => assert.equal(liveTree(read!), undefined));
  } finally {
    await rm(folder, { recursive: true });
  }
  assert.match((await answer({ tree: "gone", node: 0 })).error!, /run its cell again/);
});
