import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { fromVersion3 } from "./from-version-3.js";
import { joinLines, type Notebook } from "./notebook.js";
import { NotebookError, validateNotebook } from "./validate.js";

/** A notebook and how its file was laid out, so that writing changes only what changed. */
export interface NotebookFile {
  notebook: Notebook;
  /** What a level is indented by. */
  indent: string;
  /** What follows the last brace. */
  ending: string;
}

/** Gives cells of older files the ids that format 4.5 asks for; the same file gets the same ids. */
function upgrade(notebook: Notebook): void {
  if (notebook.nbformat_minor >= 5) return;
  const taken = new Set<string>();
  notebook.cells = notebook.cells.map((cell, i) => {
    let id: string;
    let salt = 0;
    do {
      const hash = createHash("sha256").update(`${i} ${salt++} ${joinLines(cell.source)}`);
      id = hash.digest("hex").slice(0, 8);
    } while (taken.has(id));
    taken.add(id);
    const { cell_type, ...rest } = cell;
    return { cell_type, ...rest, id };
  });
  notebook.nbformat_minor = 5;
}

/**
 * Reads the text of a notebook of format 4 or 3, brought to 4.5. `name` is for messages.
 *
 * @param text the content of an `.ipynb` file
 * @param name its name, for error messages
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { parseNotebook } from "arpo-lab/kernel";
 *
 * const { notebook } = parseNotebook('{"nbformat":4,"nbformat_minor":4,"metadata":{},"cells":[]}');
 * assert.equal(notebook.nbformat_minor, 5);
 * ```
 */
export function parseNotebook(text: string, name = "the file"): NotebookFile {
  let value: unknown;
  try {
    value = fromVersion3(JSON.parse(text.replace(/^\ufeff/, "")));
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new NotebookError(`Cannot read notebook: ${name} must be JSON, got ${reason}`, {
      cause: error,
    });
  }
  validateNotebook(value);
  upgrade(value);
  validateNotebook(value);
  const indent =
    /^\s*\{\r?\n([ \t]+)"/.exec(text)?.[1] ??
    (/^\s*\{[^\n]/.test(text) && text.length > 2 ? "" : " ");
  return { notebook: value, indent, ending: /\}(\s*)$/.exec(text)?.[1] ?? "\n" };
}

/**
 * Reads a notebook's file.
 *
 * @param path the `.ipynb` file
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { readNotebook } from "arpo-lab/kernel";
 *
 * assert.throws(() => readNotebook("no-such.ipynb"), /no-such.ipynb must be a readable file/);
 * ```
 */
export function readNotebook(path: string): NotebookFile {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(`Cannot read notebook: ${path} must be a readable file, got ${reason}`, {
      cause: error,
    });
  }
  return parseNotebook(text, path);
}
