import { readFileSync } from "node:fs";
import type { CellFiles } from "./cell-files.js";
import { type Json, Refusal } from "./protocol.js";

/** The text of a cell, or of a file that has run. */
export function readSource(path: string, cells: CellFiles, files: readonly string[]): Json {
  const mimeType = /\.[cm]?ts$/.test(path) ? "text/typescript" : "text/javascript";
  const content = cells.textOf(path);
  if (content !== undefined) return { content, mimeType };
  if (!files.includes(path)) {
    throw new Refusal(`Cannot read ${path}: it must be a cell, or a file that has run`);
  }
  return { content: readFileSync(path, "utf8"), mimeType };
}
