import { readFile, stat } from "node:fs/promises";
import { z } from "#zod";
import { readNotebookText } from "../../../../kernel/server/contents/notebook-text.js";
import { defineTool } from "../definition.js";
import { fileIn } from "../folder-files.js";
import { LabRefusal } from "../lab-line.js";

type Json = Record<string, unknown>;

/** Bytes of a notebook's file that are read. */
const largest = 64 << 20;
const mostText = 4000;

const short = (text: string): string =>
  text.length <= mostText
    ? text
    : `${text.slice(0, mostText / 2)}\n[… ${text.length - mostText} characters left out …]\n${text.slice(-mostText / 2)}`;

function outputText(output: Json): string {
  if (output["output_type"] === "stream") return String(output["text"]);
  if (output["output_type"] === "error")
    return `${String(output["ename"])}: ${String(output["evalue"])}`;
  const data = (output["data"] ?? {}) as Json;
  const text = data["text/plain"];
  const rest = Object.keys(data).filter((type) => type !== "text/plain");
  const types = rest.length === 0 ? "" : `\n[${rest.join(", ")}]`;
  return `${typeof text === "string" ? text : ""}${types}`;
}

/** Cells as the file has them. */
async function savedCells(folder: string, notebook: string, from: number, limit: number) {
  const place = await fileIn(folder, notebook);
  if ((await stat(place)).size > largest) {
    throw new RangeError(`Cannot read ${notebook}: it must have at most ${largest} bytes`);
  }
  const { cells } = readNotebookText(await readFile(place, "utf8"), notebook) as { cells: Json[] };
  const told = cells.slice(from, from + limit).map((cell, i) => ({
    ...{ cell: from + i, type: cell["cell_type"], source: short(String(cell["source"])) },
    ...(Array.isArray(cell["outputs"]) && {
      count: cell["execution_count"],
      output: short((cell["outputs"] as Json[]).map(outputText).join("\n")),
    }),
  }));
  return { cells: told, of: cells.length };
}

export const readCells = defineTool({
  name: "read_cells",
  description:
    "Cells of a notebook with their outputs as text, as the lab's page shows them; where none has it open, as they were saved. Long texts are cut in their middle.",
  input: {
    notebook: z.string().max(1000).describe("a path in the lab's folder, such as lesson.ipynb"),
    from: z.number().int().min(0).max(1_000_000).default(0).describe("the first cell, from 0"),
    limit: z.number().int().min(1).max(50).default(10),
  },
  async run({ notebook, from, limit }, { lab }) {
    try {
      return { data: await lab.get("cells", { notebook, from, limit }) };
    } catch (error) {
      if (!(error instanceof LabRefusal) || error.status !== 404) throw error;
      const data = await savedCells(lab.lab.folder, notebook, from, limit);
      return { note: "As saved: no page has it open.", data };
    }
  },
});
