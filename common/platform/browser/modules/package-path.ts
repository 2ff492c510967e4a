import type * as node from "../../node/modules/package-path.js";

/** Where the package's files are put into the tree of files of a tab. */
export const packagePath: typeof node.packagePath = (name) => `/lab/${name}`;
