import { createHash } from "node:crypto";
import { joinLines, type Notebook, type NotebookCell, splitLines, tagsOf } from "./notebook.js";

const name = /^[\p{ID_Start}$_][\p{ID_Continue}$\u200c\u200d]*$/u;

/**
 * Reads `k=v` as a parameter: JSON where it is JSON, text otherwise.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { parseParameter } from "arpo-lab/experimental/kernel";
 *
 * assert.deepEqual(parseParameter("lr=1e-3"), ["lr", 0.001]);
 * assert.deepEqual(parseParameter("task=calc"), ["task", "calc"]);
 * ```
 */
export function parseParameter(text: string): [string, unknown] {
  const at = text.indexOf("=");
  const key = text.slice(0, Math.max(at, 0)).trim();
  if (at < 0 || !name.test(key)) {
    throw new RangeError(`Cannot read parameter: it must be NAME=VALUE, got '${text}'`);
  }
  const value = text.slice(at + 1);
  try {
    return [key, JSON.parse(value)];
  } catch {
    return [key, value]; // not JSON: the text itself
  }
}

/** One line that gives a parameter its value; a `let` keeps its declared type, and is checked by it. */
function assignment(key: string, value: unknown, declared: string): string {
  const isLet = new RegExp(`\\blet\\s+${key.replace(/\$/g, "\\$")}\\b`).test(declared);
  return `${isLet ? "" : "let "}${key} = ${JSON.stringify(value)};`;
}

/**
 * Puts parameters into a notebook as papermill does: a cell tagged `injected-parameters` after the one
 * tagged `parameters` (or first), in place of an earlier injection. Returns the names that the
 * `parameters` cell does not mention.
 */
export function injectParameters(
  notebook: Notebook,
  parameters: Record<string, unknown>,
): string[] {
  const keys = Object.keys(parameters);
  if (keys.length === 0) return [];
  notebook.cells = notebook.cells.filter((cell) => !tagsOf(cell).includes("injected-parameters"));
  const at = notebook.cells.findIndex((cell) => tagsOf(cell).includes("parameters"));
  const declared = at < 0 ? "" : joinLines(notebook.cells[at]!.source);
  const lines = keys.map((key) => assignment(key, parameters[key], declared));
  const source = ["// Parameters", ...lines].join("\n");
  const taken = new Set(notebook.cells.map((cell) => cell.id));
  let id = createHash("sha256").update(source).digest("hex").slice(0, 8);
  while (taken.has(id)) id = createHash("sha256").update(id).digest("hex").slice(0, 8);
  const injected: NotebookCell = {
    cell_type: "code",
    execution_count: null,
    id,
    metadata: { tags: ["injected-parameters"] },
    outputs: [],
    source: splitLines(source),
  };
  notebook.cells.splice(at + 1, 0, injected);
  return keys.filter(
    (key) => !new RegExp(`(?<![\\w$])${key.replace(/\$/g, "\\$")}(?![\\w$])`).test(declared),
  );
}
