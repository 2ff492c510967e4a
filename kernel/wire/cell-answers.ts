import { isRecord } from "../../common/options/is-record.js";
import { staleTarget, type NotebookCell } from "../contract/stale.js";
import { diagnoseTarget } from "../contract/diagnose.js";
import type { CompilerClient } from "../contract/compiler-client.js";
import type { Json } from "./message.js";

/** What a front end may ask at once. */
const mostCells = 5000;
const mostCharacters = 1 << 24;

/** What answers the comms about a notebook's cells, on this thread and also while a cell runs. */
export function cellAnswers(
  compiler: CompilerClient,
  folder: () => string,
): Record<string, (asked: Json) => Promise<Json>> {
  return {
    [staleTarget]: answering("say what is stale", async ({ cells, of }) => {
      const one = of === undefined ? undefined : String(of);
      return { ...(await compiler.call("stale", { cells: readCells(cells), of: one })) };
    }),
    [diagnoseTarget]: answering("diagnose a cell", async ({ cells, of }) => {
      const question = { cells: readCells(cells), of: String(of) };
      if (!question.cells.some(({ id }) => id === question.of)) {
        throw new TypeError(`of must be the id of one of the cells, got ${question.of}`);
      }
      return { ...(await compiler.call("diagnose", question, folder())) };
    }),
  };
}

/** `ask` of the question is in the answer, and so is what was wrong with it. */
function answering(
  action: string,
  answer: (asked: Json) => Promise<Json>,
): (asked: Json) => Promise<Json> {
  return async (asked) => {
    const { ask } = asked;
    try {
      return { ask, ...(await answer(asked)) };
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      return { ask, error: `Cannot ${action}: ${why}` };
    }
  };
}

function readCells(value: unknown): NotebookCell[] {
  const fail = (rule: string, got: unknown): never => {
    throw new TypeError(`${rule}, got ${String(got)}`);
  };
  if (!Array.isArray(value)) return fail("cells must be a list", typeof value);
  if (value.length > mostCells) fail(`cells may be ${mostCells}`, value.length);
  let characters = 0;
  const ids = new Set<string>();
  return value.map((cell: unknown) => {
    const { id, source } = isRecord(cell) ? cell : {};
    if (typeof id !== "string" || typeof source !== "string") {
      return fail("a cell must have an id and a source", typeof cell);
    }
    if (ids.size === ids.add(id).size) fail("each cell must have an id of its own", id);
    characters += id.length + source.length;
    if (characters > mostCharacters) fail(`cells may have ${mostCharacters} characters`, "more");
    return { id, source };
  });
}
