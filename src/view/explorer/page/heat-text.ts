import { element } from "../../page/element.js";
import { numberText } from "../../page/number-text.js";
import { tableRow } from "../../page/table-row.js";
import type { Colouring } from "./colouring.js";
import { tokenText } from "./token-text.js";
import type { PageTree } from "./unpack-tree.js";

/** One token in words and numbers, with the alternatives it was chosen from. */
function tokenDetails(tree: PageTree, token: number): HTMLElement {
  const number = (x: number | undefined) => numberText(x, 3);
  const own = tree.tokens[token]!;
  const facts = [
    `entropy ${number(tree.entropies[token])}`,
    `p ${number(Math.exp(-tree.surprises[token]!))}`,
  ];
  const advantage = tree.advantages?.[token];
  if (advantage !== undefined) facts.push(`advantage ${number(advantage)}`);
  const quoted = JSON.stringify(tokenText(tree, own));
  const box = element("div", {}, element("b", {}, quoted), `  ${facts.join(" · ")}`);
  const { top } = tree;
  if (!top) return box;
  const list = element("table", { class: "arpo-alternatives" });
  let told = 0;
  for (let k = 0; k < top.width; k++) {
    const p = Math.exp(-top.surprises[token * top.width + k]!);
    // What is left when nearly all is told interests nobody.
    if (Number.isNaN(p) || (k >= 3 && told > 0.999)) continue;
    told += p;
    const id = top.ids[token * top.width + k]!;
    const bar = element("i", { style: `width:${Math.round(100 * p)}px` });
    const name = JSON.stringify(tokenText(tree, id)) + (id === own ? " (written)" : "");
    list.append(tableRow("td", [name, number(p), bar]));
  }
  if (list.childElementCount > 0) box.append(list);
  return box;
}

/** Tokens as text on their colours; one at a time is looked at, by pointer or arrow keys. */
export function heatText(
  tree: PageTree,
  colouring: Colouring,
  tokens: { token: number; node: number }[],
  label: string,
  looked: (index: number) => void = () => undefined,
): HTMLElement {
  const most = 400;
  const text = element("div", { class: "arpo-text", tabindex: "0", role: "group" });
  text.setAttribute("aria-label", `${label}: arrow keys move over the tokens`);
  const details = element("div", { class: "arpo-token", "aria-live": "polite" });
  const spans: HTMLElement[] = [];
  let current = -1;
  const look = (i: number, chosen: boolean) => {
    spans[current]?.classList.remove("arpo-on");
    current = Math.max(0, Math.min(spans.length - 1, i));
    const span = spans[current];
    if (!span) return;
    span.classList.add("arpo-on");
    span.scrollIntoView({ block: "nearest" });
    details.replaceChildren(tokenDetails(tree, tokens[current]!.token));
    if (chosen) looked(current);
  };
  const more = () => {
    const from = spans.length;
    for (const [i, { token, node }] of tokens.slice(from, from + most).entries()) {
      const background = colouring.colour(colouring.value(token, node));
      const span = element("span", { style: `background:${background}` });
      if (tree.nodes[node]!.kind === "tool") span.className = "arpo-result";
      span.textContent = tokenText(tree, tree.tokens[token]!);
      span.dataset["index"] = String(from + i);
      spans.push(span);
      text.append(span);
    }
    if (spans.length >= tokens.length) return;
    const button = element("button", {}, `${tokens.length - spans.length} more tokens`);
    button.onclick = () => {
      button.remove();
      more();
    };
    text.append(button);
  };
  more();
  const pointed = (event: Event) => {
    const { index } = (event.target as HTMLElement).dataset;
    if (index !== undefined) look(Number(index), event.type === "click");
  };
  text.onclick = pointed;
  text.onmouseover = pointed;
  text.onkeydown = (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1, Home: -1e9, End: 1e9 }[event.key];
    if (step === undefined) return;
    event.preventDefault();
    look(current + step, true);
  };
  return element("div", {}, text, details);
}
