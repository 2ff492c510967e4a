import { z } from "#zod";
import { act } from "../acting.js";
import { defineTool } from "../definition.js";
import { askTrees, treePlace } from "../trees.js";
import { treeId } from "./summarize-tree.js";

export const fork = defineTool({
  name: "fork",
  description:
    "Continues a trajectory of a notebook's tree from one of its tokens, n times, with the policy that made it. It is a cell: the person sees it and allows or refuses it.",
  input: {
    tree: treeId,
    trajectory: z.number().int().min(0).max(1_000_000),
    token: z
      .number()
      .int()
      .min(0)
      .max(10_000_000)
      .describe("a token of its response that the model wrote: the fork begins before it"),
    n: z.number().int().min(1).max(16).default(4),
  },
  acts: { destructive: false },
  async run({ tree, trajectory, token, n }, context) {
    const found = treePlace(tree);
    const { source, name, index } = found;
    if (name === undefined) {
      throw new RangeError(
        `Cannot fork: the tree must be a value of a notebook, NOTEBOOK.ipynb#VARIABLE, got ${tree}`,
      );
    }
    const told = await askTrees(context, found, { what: "place", trajectory, token });
    if (told["can_go_on"] !== true) {
      throw new RangeError(
        `Cannot fork: ${name} must be a tree that this session rolled out, got one that was read`,
      );
    }
    const { node, at, of } = told as { node: number; at: number; of: string };
    const value = { tree: name, trees: `${name}[${index}]`, scored: `${name}.trees[${index}]` }[of];
    if (value === undefined) {
      throw new RangeError(`Cannot fork: ${name} must be a tree, a list of trees or scored trees`);
    }
    const code = `// Continues trajectory ${trajectory} of ${tree.slice(source.length + 1)} before token ${token}, ${n} times.\nawait ${value}.fork(${Math.trunc(node)}, { at: ${Math.trunc(at)}, n: ${n} })`;
    return await act(context, { kind: "run", notebook: source, code });
  },
});
