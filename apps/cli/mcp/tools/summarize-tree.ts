import { z } from "#zod";
import { defineTool } from "../definition.js";
import { askTrees, treePlace } from "../trees.js";

export const treeId = z
  .string()
  .max(1200)
  .describe("NOTEBOOK.ipynb#VARIABLE, NOTEBOOK.ipynb#VARIABLE/NUMBER or FILE#NUMBER");

export const summarizeTree = defineTool({
  name: "summarize_tree",
  description:
    "One rollout tree: its prompt, each trajectory with score, end and shortened text, where it branched and why, and the tokens where the policy was least certain.",
  input: { tree: treeId },
  async run({ tree }, context) {
    return { data: await askTrees(context, treePlace(tree), { what: "tree" }) };
  },
});
