import { Random } from "../../random/random.js";
import type { RolloutTree } from "../../rollout/rollout-tree.js";
import { sampleTree } from "./sample-tree.js";

/** A tree of 1,000 nodes and 200,000 tokens: 100 rows of ten nodes. */
export async function largeTree(): Promise<RolloutTree> {
  const tree = await sampleTree({ seed: 2 });
  const random = Random.from(1);
  const model = tree.nodes.find((node) => node.kind === "model" && node.top)!;
  const nodes = Array.from({ length: 1000 }, (_, id) => ({
    ...{ ...model, id, parent: id % 10 === 0 ? -1 : id - 1, row: Math.floor(id / 10) },
    ...{ round: id % 10, branch: undefined },
    tokens: Int32Array.from({ length: 200 }, () => 97 + random.integer(2000)),
    text: "",
    logprobs: Float32Array.from({ length: 200 }, () => -random.uniform()),
    entropies: Float32Array.from({ length: 200 }, () => 3 * random.uniform()),
    top: {
      width: 8,
      ids: Int32Array.from({ length: 1600 }, () => 97 + random.integer(2000)),
      logprobs: Float32Array.from({ length: 1600 }, () => -random.uniform()),
    },
  }));
  const rows = Array.from({ length: 100 }, (_, row) => ({
    ...tree.trajectories[0]!,
    ...{ row, leaf: row * 10 + 9 },
  }));
  return Object.assign(tree, { nodes, rows }) as unknown as RolloutTree;
}
