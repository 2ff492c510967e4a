import { z } from "#zod";
import { act } from "../acting.js";
import { defineTool } from "../definition.js";

export const interrupt = defineTool({
  name: "interrupt",
  description:
    "Interrupts the cell that runs in a notebook; its values stay. The person is asked first.",
  input: { notebook: z.string().max(1000) },
  acts: { destructive: false },
  run: ({ notebook }, context) => act(context, { kind: "interrupt", notebook }),
});
