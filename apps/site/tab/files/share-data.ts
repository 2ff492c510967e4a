import { tree } from "../../../../common/platform/browser/tree/own-tree.js";

/** The folder that a reader sees. */
export const home = "/home";

/** What lies beside the notebooks and is the package's. */
export const sharedNames = ["data", "docs"];

/** What of the package lies beside the notebooks, as in a clone of it: the very same folders. */
export function shareData(): void {
  tree.makeFolder(home, true);
  for (const name of sharedNames) {
    const folder = tree.find(`/lab/${name}`, "stat");
    if (folder !== undefined) tree.put(`${home}/${name}`, folder, "open");
  }
}
