import { treeDisplay } from "../rollout/tree-display.js";
import { explore } from "./explorer/explore.js";

// From here on trees show themselves in the explorer.
treeDisplay.show = (tree) => explore(tree).bundle();

export { explore, Explorer } from "./explorer/explore.js";
export type { ExploreOptions } from "./explorer/make-payload.js";
export { palettes, type Palette, type Theme } from "./palette.js";
