import { isRecord } from "../../common/options/is-record.js";
import type { CompilerClient } from "../contract/compiler-client.js";
import type { NotebookCell } from "../contract/stale.js";
import type { Json } from "./message.js";

/** What a front end may ask at once. */
const mostCells = 5000;
const mostCharacters = 1 << 24;

/** Answers a message of the comm `staleTarget`; `ask` of the question is in the answer. */
export async function answerStale(compiler: CompilerClient, asked: Json): Promise<Json> {
  const { ask } = asked;
  try {
    const of = asked.of === undefined ? undefined : String(asked.of);
    return { ask, ...(await compiler.call("stale", { cells: readCells(asked.cells), of })) };
  } catch (error) {
    return { ask, error: error instanceof Error ? error.message : String(error) };
  }
}

function readCells(value: unknown): NotebookCell[] {
  const fail = (rule: string, got: unknown): never => {
    throw new TypeError(`Cannot say what is stale: ${rule}, got ${String(got)}`);
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
