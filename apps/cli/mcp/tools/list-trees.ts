import { z } from "#zod";
import { defineTool, type ToolContext } from "../definition.js";
import { rolloutFiles } from "../folder-files.js";
import { askTrees } from "../trees.js";

interface Value {
  name: string;
  group: string;
  kind: string;
  text: string;
}

async function valuesOf({ lab }: ToolContext, notebook: string): Promise<unknown> {
  try {
    const { values } = (await lab.get("values", { notebook })) as { values: Value[] };
    return values.map(({ name, kind, text }) => ({ tree: `${notebook}#${name}`, kind, text }));
  } catch (error) {
    return { fault: (error as Error).message };
  }
}

/** What there is in all kernels and in the folder. */
async function everything(context: ToolContext): Promise<unknown> {
  const { notebooks } = (await context.lab.get("notebooks")) as {
    notebooks: { notebook: string }[];
  };
  const values = await Promise.all(
    notebooks.slice(0, 8).map(({ notebook }) => valuesOf(context, notebook)),
  );
  return {
    in_kernels: Object.fromEntries(notebooks.map(({ notebook }, i) => [notebook, values[i]])),
    files_that_may_hold_trees: await rolloutFiles(context.lab.lab.folder),
  };
}

export const listTrees = defineTool({
  name: "list_trees",
  description:
    "Rollout trees. Without a source: values of the running notebooks and files of the lab's folder. With a file, or NOTEBOOK.ipynb#VARIABLE: a line for each of its trees, with prompt, size and mean score.",
  input: {
    source: z.string().max(1000).optional(),
    from: z.number().int().min(0).max(1_000_000).default(0).describe("the first tree of a source"),
  },
  async run({ source, from }, context) {
    if (source === undefined) return { data: await everything(context) };
    const [path = "", name] = source.split("#", 2);
    if (path.endsWith(".ipynb") && name === undefined) {
      return { data: await valuesOf(context, path) };
    }
    const [variable] = (name ?? "").split("/");
    const place = {
      ...{ source: path, index: 0 },
      ...(path.endsWith(".ipynb") && { name: variable! }),
    };
    const told = await askTrees(context, place, { what: "trees", from });
    const id = path.endsWith(".ipynb") ? `${path}#${variable}/NUMBER` : `${path}#NUMBER`;
    return { note: `Ask about one as ${id}.`, data: told };
  },
});
