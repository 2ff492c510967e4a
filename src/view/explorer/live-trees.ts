import { randomUUID } from "#platform/uuid";
import { defined } from "../../../common/options/defined.js";
import type { ForkChanges } from "../../rollout/grow/fork.js";
import type { RolloutTree } from "../../rollout/rollout-tree.js";
import { viewHost } from "../kernel.js";
import { makePayload } from "./make-payload.js";
import type { LiveTree, TreeReply, TreeRequest } from "./payload.js";

/** What the page asks the kernel under. */
export const treeTarget = "arpo-lab.tree";

/**
 * The trees that were forked from a page, in order: a click in an explorer adds one, so that cells can go
 * on with it.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { forks } from "arpo-lab/view";
 *
 * assert.deepEqual(forks, []);
 * ```
 */
export const forks: RolloutTree[] = [];

const trees = new Map<string, WeakRef<RolloutTree>>();
const keys = new WeakMap<RolloutTree, string>();
// The last ones stay although no variable holds them.
const recent: RolloutTree[] = [];
const kept = 16;

/** Lets the page act on a tree, where there is a kernel and the tree can be continued. */
export function liveTree(tree: RolloutTree): LiveTree | undefined {
  const host = viewHost();
  if (!host?.comms || !tree.canGoOn) return undefined;
  let key = keys.get(tree);
  if (key === undefined) {
    key = randomUUID();
    keys.set(tree, key);
    trees.set(key, new WeakRef(tree));
  }
  recent.push(tree);
  if (recent.length > kept) recent.shift();
  host.comms.register(treeTarget, (comm) => {
    comm.onMessage = async ({ data }) => {
      comm.send(
        (await answer(data as unknown as TreeRequest)) as unknown as Record<string, unknown>,
      );
    };
  });
  return { key, target: treeTarget };
}

/** Does what the page asked for; what goes wrong is told there. */
export async function answer(request: TreeRequest): Promise<TreeReply> {
  try {
    const tree = trees.get(request.tree)?.deref();
    if (!tree) {
      throw new Error("Cannot fork: the kernel must still hold the tree; run its cell again");
    }
    const { node, at, result, trajectories } = request;
    const changes: ForkChanges = {
      ...defined({ at, result, n: trajectories }),
      // The same seed would write the same again.
      ...(request.resample ? { seed: tree.seed + forks.length + 1 } : {}),
    };
    const made: RolloutTree = await tree.fork(node, changes);
    const place = forks.push(made) - 1;
    return { name: `forks[${place}]`, tree: makePayload(made), live: liveTree(made) };
  } catch (error) {
    return { error: error instanceof Error ? error.message : String(error) };
  }
}
