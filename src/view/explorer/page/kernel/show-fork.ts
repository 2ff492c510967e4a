import { carrier } from "../../../page/carried.js";
import { element } from "../../../page/element.js";
import type { TreeReply } from "../../payload.js";
import type { Channel } from "./channel.js";

/** Puts a tree that was forked off in the place of the one it came from; a button leads back. */
export function showFork(
  root: HTMLElement,
  id: string,
  reply: Exclude<TreeReply, { error: string }>,
  { insertCell }: Channel,
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
