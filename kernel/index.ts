/** The kernel from inside a cell, and notebook files (`arpo-lab/kernel`). */
export * from "./cells.js";

// Notebook files
export { type NotebookFile, parseNotebook, readNotebook } from "./notebook/read.js";
export { emptyNotebook, writeNotebook } from "./notebook/write.js";
export type { Notebook, NotebookCell, NotebookOutput } from "./notebook/notebook.js";
export { NotebookError } from "./notebook/validate.js";
export { pageOf } from "./notebook/html/page.js";
