import { Random } from "../../random/random.js";
import type { RolloutTreeData } from "./tree-data.js";

/** The stream that all streams of a tree are split from: a function of its seed and place alone. */
export function treeRandom(tree: Pick<RolloutTreeData, "config" | "index" | "origin">): Random {
  const own = Random.from(tree.config.seed).split(tree.index);
  const { origin } = tree;
  return origin ? own.split("fork").split(origin.node).split(origin.at) : own;
}
