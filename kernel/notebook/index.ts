/** Notebook files outside a cell: read, check, run, show as a page (`arpo-lab/kernel/notebook`). */
export {
  joinLines,
  type Multiline,
  type Notebook,
  type NotebookCell,
  type NotebookOutput,
  splitLines,
  tagsOf,
} from "./notebook.js";
export { parseParameter } from "./parameters.js";
export { type NotebookFile, parseNotebook, readNotebook } from "./read.js";
export { NotebookError, validateNotebook } from "./validate.js";
export { emptyNotebook, writeNotebook } from "./write.js";
export { type ExecuteOptions, type IopubMessage, KernelClient } from "../client/kernel-client.js";
export { KernelDiedError } from "../client/kernel-process.js";
export { findKernel, kernelFolders, type KernelSpec, ownKernel } from "../client/kernel-spec.js";
export { executeNotebook } from "./execute.js";
export { pageOf } from "./html/page.js";
