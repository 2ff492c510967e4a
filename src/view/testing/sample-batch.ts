import { advantages } from "../../learn/advantages.js";
import { score } from "../../reward/score-trees.js";
import { sampleTree } from "./sample-tree.js";

/** A tree with scores that differ, and the advantages GRPO makes of them. */
export async function grpoBatch() {
  const tree = await sampleTree({ seed: 4 });
  const scored = await score(tree, ({ length = 0 }) => ({
    score: (length % 3) / 2,
    reason: `a response of ${length} tokens`,
  }));
  return { tree, scored, batch: advantages(scored, { estimator: "grpo" }) };
}
