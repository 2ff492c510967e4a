import { lstatIfThereSync, realpathSync, statIfThereSync, writeFileSync } from "#platform/files";
import { writeDurablySync } from "../../common/files/durable.js";
import type { NotebookFile } from "./read.js";

/** How files are written; exchanged by tests that fill the disk. `check` throws where it must not be any more. */
export type Writer = (place: string, data: string | Uint8Array, check?: () => void) => void;

/** The text of a notebook's file. */
export function notebookText(file: NotebookFile): string {
  const { indent, ending, notebook } = file;
  const json = JSON.stringify(notebook, null, indent);
  return json + ending;
}

/** Where a path really leads, so that a link stays a link; itself where there is nothing yet. */
function target(path: string): { path: string; mode: number | undefined; regular: boolean } {
  try {
    const real = realpathSync(path);
    const status = statIfThereSync(real)!;
    return { path: real, mode: status.mode & 0o777, regular: status.isFile() };
  } catch (error) {
    if ((error as { code?: string }).code !== "ENOENT") throw error;
    return { path, mode: undefined, regular: true };
  }
}

/**
 * Writes a file whole or not at all: beside it first, then renamed over it. A disk that fills up, a
 * folder that cannot be written, a kill or a power cut leave the old file as it was.
 */
export function writeAtomically(path: string, text: string | Uint8Array): void {
  naming(path, () => {
    const to = target(path);
    if (to.regular) writeDurablySync(to.path, text, { mode: to.mode });
    else writeFileSync(to.path, text); // a pipe or a device: there is nothing to keep whole
  });
}

/** As `writeAtomically`, but where the name is a link it is the link that is replaced. */
export const replaceFile: Writer = (path, data, check) => {
  naming(path, () => {
    const there = lstatIfThereSync(path);
    const mode = there?.isFile() === true ? there.mode & 0o777 : undefined;
    writeDurablySync(path, data, { mode, check });
  });
};

function naming(path: string, write: () => void): void {
  try {
    write();
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(`Cannot write ${path}: ${reason}`, { cause: error });
  }
}

/**
 * Writes a notebook's file, laid out as it was read.
 *
 * @param path the `.ipynb` file
 * @param file the notebook with its layout, as `readNotebook` returns it
 * @example
 * ```ts
 * import { mkdtempSync } from "node:fs";
 * import { tmpdir } from "node:os";
 * import { join } from "node:path";
 * import { emptyNotebook, readNotebook, writeNotebook } from "arpo-lab/kernel";
 *
 * const path = join(mkdtempSync(join(tmpdir(), "nb-")), "new.ipynb");
 * writeNotebook(path, emptyNotebook());
 * if (readNotebook(path).notebook.cells.length !== 0) throw new Error("a new notebook is empty");
 * ```
 */
export function writeNotebook(path: string, file: NotebookFile): void {
  writeAtomically(path, notebookText(file));
}

/**
 * A notebook without cells, for the TypeScript kernel.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { emptyNotebook } from "arpo-lab/kernel";
 *
 * assert.deepEqual(emptyNotebook().notebook.cells, []);
 * ```
 */
export function emptyNotebook(): NotebookFile {
  return {
    notebook: { cells: [], metadata: {}, nbformat: 4, nbformat_minor: 5 },
    indent: " ",
    ending: "\n",
  };
}
