import { carried } from "../../page/carried.js";
import { element } from "../../page/element.js";
import { coloursOf, type PageColours } from "../../page/page-colours.js";
import { isExpansion } from "../../../rollout/branch/family/settings.js";
import type { ExplorerPayload, LiveTree } from "../payload.js";
import { makeActions } from "./actions.js";
import { makeControls, replayWords } from "./controls.js";
import { legendOf } from "./legend.js";
import { nodeDetails } from "./node-details.js";
import { showFork } from "./show-fork.js";
import { ShownTree } from "./shown-tree.js";
import { trailOf } from "./trail.js";
import { makeCanvas } from "./tree-canvas.js";
import { unpackTree } from "./unpack-tree.js";

/** Brings one explorer of the page to life. */
export function startExplorer(id: string, colours: PageColours): void {
  const root = document.getElementById(id);
  const payload = carried<ExplorerPayload>(root, "tree");
  if (!root || payload === undefined) return;
  const tree = unpackTree(payload);
  const shown = new ShownTree(tree, coloursOf(root, colours));
  const legend = element("div", { class: "arpo-legend" });
  const count = element("output", { class: "arpo-count", "aria-live": "polite" });
  const details = element("div", { class: "arpo-details" });
  const trail = element("div", { class: "arpo-trail" });
  const canvas = makeCanvas(root, shown, select);
  let forked = 0;
  const actions = makeActions(tree, carried<LiveTree>(root, "live"), (reply, channel) => {
    showFork(root, `${id}-${forked++}`, reply, channel, {
      start: (inner) => startExplorer(inner, colours),
      back: canvas.draw,
    });
  });

  function tellNode(): void {
    const { selected, colouring, replay } = shown;
    if (selected < 0) return;
    details.replaceChildren(nodeDetails(tree, selected, colouring, replay, actions.token));
  }
  function select(node: number): void {
    shown.selected = node;
    tellNode();
    actions.node(node);
    canvas.draw();
  }
  function changed(): void {
    shown.update(coloursOf(root!, colours));
    const isAsked = isExpansion(shown.choices.rule) || tree.plan.attemptsPerTrajectory > 0;
    count.textContent = isAsked ? replayWords(shown.replay) : "";
    count.dataset["branches"] = String(shown.replay.branches);
    legend.replaceChildren(...legendOf(shown));
    tellNode();
    trail.replaceChildren(...trailOf(shown));
    canvas.repaint();
  }

  root.querySelector("[data-picture]")?.remove();
  root.append(
    element("div", { class: "arpo-title" }, element("b", {}, tree.title), " ", ...canvas.buttons),
    element("details", {}, element("summary", {}, "prompt"), element("pre", {}, tree.prompt)),
    makeControls(tree, shown.choices, changed),
    ...[count, canvas.scroller, canvas.ruler, legend, trail, details, actions.box],
  );
  changed();
  if (tree.nodes.length > 0) select(0);
}
