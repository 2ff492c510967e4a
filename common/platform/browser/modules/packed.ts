import type * as node from "../../node/modules/packed.js";
import { existsSync, readFileSync } from "../files.js";
import { packagePath } from "./package-path.js";

/** Packed when the tab's files were made; without it a page shows the picture and no more. */
export const packedPackage: typeof node.packedPackage = (name) => {
  const path = packagePath(`packed/${name}`);
  return existsSync(path) ? readFileSync(path, "utf8") : "";
};
