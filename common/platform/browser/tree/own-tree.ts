import { FileTree } from "./file-tree.js";

/** The one tree of this thread. */
export const tree = new FileTree();
