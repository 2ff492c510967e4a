import type { Channel } from "../../page/ask-kernel.js";
import { carried, carrier, element } from "../../page/element.js";
import type { PageColours } from "../../page/page-colours.js";
import type { ExplorerPayload, LiveTree, TreeReply } from "../payload.js";
import { makeExplorer } from "./explorer-view.js";
import { unpackTree } from "./tree/unpack-tree.js";
import type { ExplorerView } from "./view.js";

/** Puts a tree that was forked off in the place of the one it came from; a button leads back. */
function showFork(
  root: HTMLElement,
  id: string,
  reply: Exclude<TreeReply, { error: string }>,
  { insertCell }: Channel<TreeReply>,
  then: { start: (id: string) => void; back: () => void },
): void {
  const own = [...root.children].filter((child) => child.tagName !== "SCRIPT") as HTMLElement[];
  const inner = element(
    "div",
    { id, class: "arpo-view arpo-explorer" },
    carrier("tree", JSON.stringify(reply.tree)),
    reply.live && carrier("live", JSON.stringify(reply.live)),
  );
  const back = element("button", {}, "‹ back to the tree it came from");
  const where = element("span", {}, "In cells this tree is ", element("code", {}, reply.name), ".");
  const bar = element("div", { class: "arpo-bar arpo-fork" }, back, where);
  if (insertCell) {
    const open = element("button", {}, "open in a cell");
    const source = `import { forks } from "arpo-lab";\n${reply.name}`;
    open.onclick = () => insertCell(source, { run: true });
    bar.append(open);
  }
  const holder = element("div", { class: "arpo-forked" }, bar, inner);
  for (const child of own) child.style.display = "none";
  back.onclick = () => {
    holder.remove();
    for (const child of own) child.style.display = "";
    then.back();
  };
  root.append(holder);
  then.start(id);
}

/** Brings one explorer of the page to life. */
export function startExplorer(id: string, colours: PageColours): ExplorerView | undefined {
  const outer = document.getElementById(id);
  const payload = carried<ExplorerPayload>(outer, "tree");
  if (!outer || payload === undefined) return undefined;
  outer.querySelector("[data-picture]")?.remove();
  let forked = 0;
  const view = makeExplorer(unpackTree(payload), {
    ...{ outer, colours, live: carried<LiveTree>(outer, "live") },
    forked: (reply, channel) =>
      showFork(outer, `${id}-${forked++}`, reply, channel, {
        start: (inner) => void startExplorer(inner, colours),
        back: () => view.update(),
      }),
  });
  return view;
}

/**
 * Starts the explorer of each box when the box is first opened: a page of hundreds draws none before. The answer opens a
 * box at a trajectory.
 */
export function openExplorers(
  boxes: readonly HTMLDetailsElement[],
  colours: PageColours,
): (box: HTMLDetailsElement, node: number, token: number, trajectory: number) => void {
  const views = new Map<HTMLDetailsElement, ExplorerView | undefined>();
  const open = (box: HTMLDetailsElement) => {
    const view = box.querySelector<HTMLElement>("[data-explorer]");
    if (!box.open || !view || views.has(box)) return;
    views.set(box, startExplorer(view.id, colours));
  };
  for (const box of boxes) {
    box.addEventListener("toggle", () => {
      open(box);
    });
    open(box);
  }
  return (box, node, token, trajectory) => {
    box.open = true;
    open(box);
    const view = views.get(box);
    // An address may say anything.
    const found = view?.facts.tree.nodes[node];
    if (view && found && trajectory >= 0 && trajectory < view.facts.tree.trajectories.length)
      view.select(node, token < found.length ? token : -1, trajectory);
    box.scrollIntoView({ block: "start" });
  };
}
