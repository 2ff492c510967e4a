import type { PageColours } from "../../../src/view/page/page-colours.js";
import { makeExplorer } from "../../../src/view/explorer/page/explorer-view.js";
import { unpackTree } from "../../../src/view/explorer/page/tree/unpack-tree.js";
import type { ExplorerPayload } from "../../../src/view/explorer/payload.js";

/** Shows a tree in the explorer, with the panel of what other settings would have done. */
export function openTree(outer: HTMLElement, payload: ExplorerPayload, colours: PageColours): void {
  const view = makeExplorer(unpackTree(payload), {
    ...{ outer, live: undefined, forked: () => undefined, colours },
  });
  view.openTab("whatif");
}
