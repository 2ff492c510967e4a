// A tab's folders are its own: nothing else moves them, and there are no links.
import type * as node from "../node/held-folder.js";
import { fault } from "./tree/fault.js";
import { statIfThereSync } from "./files.js";
import { join } from "./path.js";

export type { HeldFolder } from "../node/held-folder.js";

export const holdFolder: typeof node.holdFolder = (path) => {
  const status = statIfThereSync(path);
  if (status?.isDirectory() !== true) throw fault(status ? "ENOTDIR" : "ENOENT", "open", path);
  return {
    path,
    folder: (name) => holdFolder(join(path, name)),
    check: () => undefined,
    holds: () => true,
    close: () => undefined,
  };
};

export const holdFolderByPath: typeof node.holdFolderByPath = holdFolder;
