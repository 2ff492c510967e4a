import { element } from "../../../page/element.js";
import { type PageTree, tokenText } from "../tree/unpack-tree.js";
import { percent, signed, two, visible } from "../../../page/words.js";

/** One token: what it says, its entropy, and the alternatives it was drawn from. */
export function tokenCard(tree: PageTree, token: number): HTMLElement {
  const own = tree.tokens[token]!;
  const said = (place: number) => element("code", {}, visible(tokenText(tree, place)));
  const p = Math.exp(-tree.surprises[token]!);
  const head = element(
    "div",
    {},
    said(own),
    " entropy ",
    element("b", {}, two(tree.entropies[token])),
    " nats",
  );
  const known = { advantage: tree.advantages?.[token], "gap to the teacher": tree.gaps?.[token] };
  for (const [name, value = NaN] of Object.entries(known))
    if (!Number.isNaN(value)) head.append(`, ${name} ${signed(value)}`);
  const box = element("div", { class: "ax-card" }, head);
  const list = element("div", { class: "ax-alternatives" });
  const width = tree.top?.width ?? 0;
  let told = 0;
  let isInside = false;
  const add = (id: number, share: number) => {
    const bar = element("i", {}, element("b", { style: `width:${Math.max(2, 100 * share)}%` }));
    const name = element("span", id === own ? { class: "ax-own" } : {}, said(id));
    list.append(name, bar, element("span", { class: "ax-number" }, percent(share)));
  };
  for (let k = 0; k < Math.min(width, 4); k++) {
    const share = Math.exp(-tree.top!.surprises[token * width + k]!);
    // What is left when nearly all is told interests nobody.
    if (Number.isNaN(share) || told > 0.999) continue;
    told += share;
    const id = tree.top!.ids[token * width + k]!;
    const isOwn = id === own;
    isInside ||= isOwn;
    add(id, share);
  }
  // What was drawn is always among the bars.
  if (!isInside && !Number.isNaN(p)) add(own, p);
  if (list.childElementCount > 0) box.append(list);
  return box;
}
