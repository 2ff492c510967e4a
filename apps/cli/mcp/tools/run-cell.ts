import { z } from "#zod";
import { act } from "../acting.js";
import { defineTool } from "../definition.js";

export const runCell = defineTool({
  name: "run_cell",
  description:
    "Adds a cell at the end of a notebook, in your name, and runs it. The lab's page first shows the code to the person, who allows or refuses it. Cells that are there are never changed.",
  input: {
    notebook: z.string().max(1000),
    code: z.string().min(1).max(20_000).describe("TypeScript, as in the notebook's other cells"),
  },
  acts: { destructive: true },
  run: ({ notebook, code }, context) => act(context, { kind: "run", notebook, code }),
});
