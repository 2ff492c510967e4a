import { z } from "#zod";
import { defineTool } from "../definition.js";
import { askTrees, treePlace } from "../trees.js";
import { treeId } from "./summarize-tree.js";

export const explainScore = defineTool({
  name: "explain_score",
  description:
    "Why a trajectory has its score: the reward's reason and parts, the answer it found, the tool calls, and its advantages where the tree is of a batch. Name a value that score() or advantages() gave, or a file.",
  input: { tree: treeId, trajectory: z.number().int().min(0).max(1_000_000) },
  async run({ tree, trajectory }, context) {
    return { data: await askTrees(context, treePlace(tree), { what: "score", trajectory }) };
  },
});
