import { carried } from "../../page/carried.js";
import type { PageColours } from "../../page/page-colours.js";
import type { ExplorerPayload, LiveTree } from "../payload.js";
import { makeExplorer } from "./explorer-view.js";
import { showFork } from "./kernel/show-fork.js";
import { unpackTree } from "./tree/unpack-tree.js";

/** Brings one explorer of the page to life. */
export function startExplorer(id: string, colours: PageColours): void {
  const outer = document.getElementById(id);
  const payload = carried<ExplorerPayload>(outer, "tree");
  if (!outer || payload === undefined) return;
  outer.querySelector("[data-picture]")?.remove();
  let forked = 0;
  const view = makeExplorer(unpackTree(payload), {
    ...{ outer, colours, live: carried<LiveTree>(outer, "live") },
    forked: (reply, channel) =>
      showFork(outer, `${id}-${forked++}`, reply, channel, {
        start: (inner) => startExplorer(inner, colours),
        back: () => view.update(),
      }),
  });
}
