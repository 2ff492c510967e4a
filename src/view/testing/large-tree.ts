import { Random } from "../../base/random/random.js";
import { RolloutTree } from "../../rollout/rollout-tree.js";
import { sampleTree } from "./sample-tree.js";

/** A tree of 1,000 nodes and 200,000 tokens: 100 trajectories of ten nodes. */
export const largeTree = (): Promise<RolloutTree> => manyTrajectories(100, 2000, 10);

/** A tree of so many trajectories from the prompt, each of so many tokens in some nodes. */
export async function manyTrajectories(
  count: number,
  tokens: number,
  perTrajectory = 5,
): Promise<RolloutTree> {
  const tree = await sampleTree({ seed: 2 });
  const random = Random.from(1);
  const model = tree.nodes.find((node) => node.kind === "model" && node.top)!;
  const length = Math.floor(tokens / perTrajectory);
  const width = 8;
  const nodes = Array.from({ length: count * perTrajectory }, (_, id) => ({
    ...{ ...model, id, parent: id % perTrajectory === 0 ? -1 : id - 1 },
    ...{ trajectory: Math.floor(id / perTrajectory) },
    ...{ round: id % perTrajectory, branch: undefined },
    tokens: Int32Array.from({ length }, () => 97 + random.integer(2000)),
    text: "",
    logprobs: Float32Array.from({ length }, () => -random.uniform()),
    entropies: Float32Array.from({ length }, () => 3 * random.uniform()),
    top: {
      width,
      ids: Int32Array.from({ length: width * length }, () => 97 + random.integer(2000)),
      logprobs: Float32Array.from({ length: width * length }, () => -random.uniform()),
    },
  }));
  const trajectories = Array.from({ length: count }, (_, id) => ({
    ...tree.trajectories[0]!,
    ...{ id, leaf: (id + 1) * perTrajectory - 1 },
  }));
  const { tokenizer } = tree;
  return new RolloutTree({ ...tree, nodes, trajectories }, tokenizer && { tokenizer });
}
