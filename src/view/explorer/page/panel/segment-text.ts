import { element } from "../../../page/element.js";
import { heatStep } from "../../../draw/theme.js";
import { tokenText } from "../tree/unpack-tree.js";
import type { ExplorerView } from "../view.js";

const most = 1200;

/** A segment's tokens, each with its bar below it: the text's contrast stays the page's. */
export function segmentText(view: ExplorerView, node: number, marked = -1): HTMLElement {
  const { facts, measure, theme, state } = view;
  const { start, length } = facts.tree.nodes[node]!;
  const box = element("div", { class: "ax-text", tabindex: "0", role: "group" });
  box.setAttribute("aria-label", "Text of the segment: arrow keys move over the tokens");
  const current = marked >= 0 ? marked : state.selected === node ? state.token : -1;
  for (let t = 0; t < Math.min(length, most); t++) {
    const level = measure.level(start + t, node);
    const known = Number.isNaN(level) ? 0 : Math.abs(level);
    const colour = measure.isSigned
      ? level >= 0
        ? theme.right
        : theme.wrong
      : theme.heat[heatStep(known)]!;
    const style = `--h:${Math.max(1, known * 8).toFixed(1)}px;--c:${colour}`;
    const span = element("span", { style, "data-token": String(t) });
    span.textContent = tokenText(facts.tree, facts.tree.tokens[start + t]!);
    if (t === current) span.className = "ax-on";
    box.append(span);
  }
  if (length > most) box.append(` … ${length - most} more tokens`);
  const choose = (token: number) =>
    view.select(node, Math.max(0, Math.min(length - 1, token)), state.trajectory);
  box.onclick = (event) => {
    const { token } = (event.target as HTMLElement).dataset;
    if (token !== undefined) choose(Number(token));
  };
  box.onkeydown = (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1, Home: -1e9, End: 1e9 }[event.key];
    if (step === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    event.stopPropagation();
    choose((state.selected === node ? state.token : -1) + step);
    // The panel was written anew: its text goes on listening.
    view.root.querySelector<HTMLElement>(".ax-text")?.focus();
  };
  return box;
}
