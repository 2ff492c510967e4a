import { defineTool } from "../definition.js";

export const listNotebooks = defineTool({
  name: "list_notebooks",
  description: "The lab's folder, its notebooks that have a kernel, and whether that is busy.",
  input: {},
  async run(_input, { lab }) {
    const { folder } = lab.lab;
    const told = await lab.get("notebooks");
    const note =
      told["pages"] === 0
        ? "No page of the lab is open: what acts cannot be asked for, and cells are read as they were saved."
        : undefined;
    return { ...(note && { note }), data: { folder, ...told } };
  },
});
